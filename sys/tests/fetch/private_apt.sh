# Sourced: the machine's own apt client with a private configuration. Packages are downloaded and unpacked, not installed.
private=$(mktemp -d)
trap 'rm -rf "$private"' EXIT
mkdir -p "$private"/lists/partial "$private"/cache/archives/partial "$private"/etc/{sources.list.d,preferences.d}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$' || true)
: "${mirror:?this machine has no Debian mirror among its apt sources}"
keys='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
# Hooks of the machine's own configuration would tidy up its cache.
cat >"$private/apt.conf" <<END
Dir::Etc::sourcelist "$private/etc/sources.list";
Dir::Etc::sourceparts "$private/etc/sources.list.d";
Dir::Etc::preferencesparts "$private/etc/preferences.d";
Dir::State::lists "$private/lists";
Dir::Cache "$private/cache";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "$(id -un)";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
private_apt() {
    apt-get -q=2 -c "$private/apt.conf" "$@"
}
