//! The group of processes, as the environment describes it.

use cuprum::sys::environment;

use super::MemberError;

/// Place of this process in a group of processes, by the variables that launchers set.
///
/// | launcher | variables |
/// |---|---|
/// | `torchrun`, [`World::start_all`] | `RANK`, `WORLD_SIZE`, `LOCAL_RANK` |
/// | Open MPI | `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE`, `OMPI_COMM_WORLD_LOCAL_RANK` |
/// | MPICH, Intel MPI | `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALRANKID` |
/// | SLURM, also with PMIx | `SLURM_PROCID`, `SLURM_NTASKS`, `SLURM_LOCALID` |
///
/// The first set of which both number and size are there counts; without any, the process is alone.
/// Member 0 listens at `MASTER_ADDR` and `MASTER_PORT`. Without them it is the first node that
/// SLURM names, or else this machine, and a port made of the number of the job. `torchrun` uses its
/// port itself, so that the next one is taken.
///
/// ```
/// use cuprum_nccl::World;
///
/// let world = World::from_environment()?;
/// println!("number {} of {}, device {}", world.rank(), world.size(), world.local_rank());
/// # Ok::<(), cuprum_nccl::MemberError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) local_rank: u32,
    pub(super) host: String,
    pub(super) port: u16,
}

/// Number, size, and number on the machine.
const SETS: [[&str; 3]; 4] = [
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
];
/// Names of a job, of which a port is made.
const JOBS: [&str; 3] = ["SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"];
const NODES: [&str; 3] = ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"];
const LOCAL: &str = "127.0.0.1";
const USUAL_PORT: u16 = 29_500;

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

impl World {
    /// A place by its numbers, with the address of member 0.
    ///
    /// # Errors
    /// [`MemberError::Variable`] if `rank` is no number below `size`.
    pub fn new(rank: u32, size: u32, local_rank: u32, host: &str, port: u16) -> Result<Self, MemberError> {
        if rank < size {
            Ok(Self { rank, size, local_rank, host: host.into(), port })
        } else {
            Err(wrong("rank", format!("{rank} is not below the number of processes, {size}")))
        }
    }

    /// The place that the environment says. In a program with the setuid bit, none of the variables
    /// is obeyed.
    ///
    /// # Errors
    /// [`MemberError::Variable`] for a variable that is no number, or a number that is out of
    /// range.
    pub fn from_environment() -> Result<Self, MemberError> {
        Self::from_variables(&|name| environment::variable(name)?.into_string().ok())
    }

    pub(super) fn from_variables(variables: Variables<'_>) -> Result<Self, MemberError> {
        let is_set = |set: &&[&str; 3]| set[..2].iter().all(|name| variables(name).is_some());
        let Some([rank_name, size_name, local_name]) = SETS.iter().find(is_set) else {
            return Self::new(0, 1, 0, LOCAL, USUAL_PORT);
        };
        let rank = number(variables, rank_name)?.unwrap_or(0);
        let size = number(variables, size_name)?.unwrap_or(1);
        if rank >= size {
            return Err(wrong(rank_name, format!("{rank} is not below {size_name}, {size}")));
        }
        let local_rank = number(variables, local_name)?.unwrap_or(rank);
        let host = match variables("MASTER_ADDR") {
            Some(host) => host,
            None => {
                NODES.iter().find_map(|name| variables(name)).map_or(LOCAL.into(), |list| first_node(&list))
            }
        };
        Self::new(rank, size, local_rank, &host, port(variables)?)
    }

    /// Number of this process, from 0 on.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of processes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Number of this process on its machine: the ordinal of its device, unless the launcher shows
    /// each process one device.
    #[must_use]
    pub const fn local_rank(&self) -> u32 {
        self.local_rank
    }

    /// Address of member 0.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

fn wrong(variable: &str, reason: String) -> MemberError {
    MemberError::Variable { variable: variable.into(), reason }
}

fn number(variables: Variables<'_>, name: &str) -> Result<Option<u32>, MemberError> {
    let Some(text) = variables(name) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| wrong(name, format!("{text:?} is no number")))
}

fn port(variables: Variables<'_>) -> Result<u16, MemberError> {
    if let Some(text) = variables("MASTER_PORT") {
        let port: u16 =
            text.trim().parse().map_err(|_| wrong("MASTER_PORT", format!("{text:?} is no port")))?;
        let is_taken = variables("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|value| value == "True");
        return Ok(if !is_taken { port } else { port.checked_add(1).unwrap_or(port - 1) });
    }
    // The same in all processes of a job, and another one in most other jobs.
    let job = JOBS.iter().find_map(|name| variables(name));
    Ok(job.map_or(USUAL_PORT, |job| {
        let hash = job
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        20_000 + (hash % 12_000) as u16
    }))
}

/// The first name of a list as SLURM writes it: `a[03-05,9]-x,b` is `a03-x`.
fn first_node(list: &str) -> String {
    let Some((before, rest)) = list.split_once('[').filter(|(before, _)| !before.contains(',')) else {
        return list.split(',').next().unwrap_or(list).into();
    };
    let (numbers, after) = rest.split_once(']').unwrap_or((rest, ""));
    let first = numbers.split([',', '-']).next().unwrap_or_default();
    format!("{before}{first}{}", after.split(',').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(variables: &[(&str, &str)]) -> Result<World, MemberError> {
        let find =
            |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).into());
        World::from_variables(&find)
    }

    #[test]
    fn each_launcher_is_understood() -> Result<(), MemberError> {
        let torch = [
            ("RANK", "3"),
            ("WORLD_SIZE", "4"),
            ("LOCAL_RANK", "1"),
            ("MASTER_ADDR", "node7"),
            ("MASTER_PORT", "2900"),
        ];
        assert_eq!(world(&torch)?, World::new(3, 4, 1, "node7", 2900)?);
        let mut elastic = torch.to_vec();
        elastic.push(("TORCHELASTIC_USE_AGENT_STORE", "True"));
        assert_eq!(world(&elastic)?.port, 2901);

        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("PMIX_NAMESPACE", "job@1"),
        ];
        let found = world(&mpi)?;
        assert_eq!((found.rank, found.size, found.local_rank, found.host.as_str()), (1, 2, 1, LOCAL));
        assert!((20_000..32_000).contains(&found.port) && found.port != USUAL_PORT);

        let mpich = [("PMI_RANK", "0"), ("PMI_SIZE", "2")];
        assert_eq!(world(&mpich)?, World::new(0, 2, 0, LOCAL, USUAL_PORT)?);

        let slurm = [
            ("SLURM_PROCID", "5"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_STEP_NODELIST", "gpu[03-06]"),
            ("SLURM_JOB_ID", "17"),
            ("PMIX_RANK", "5"),
        ];
        let found = world(&slurm)?;
        assert_eq!((found.rank, found.size, found.local_rank, found.host.as_str()), (5, 8, 1, "gpu03"));
        assert_eq!(world(&[])?, World::new(0, 1, 0, LOCAL, USUAL_PORT)?);
        Ok(())
    }

    #[test]
    fn wrong_values_are_named() {
        let of = |variables: &[(&str, &str)]| world(variables).unwrap_err().to_string();
        assert_eq!(of(&[("RANK", "one"), ("WORLD_SIZE", "2")]), "RANK: \"one\" is no number");
        assert_eq!(of(&[("RANK", "2"), ("WORLD_SIZE", "2")]), "RANK: 2 is not below WORLD_SIZE, 2");
        assert_eq!(
            of(&[("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("MASTER_PORT", "99999")]),
            "MASTER_PORT: \"99999\" is no port"
        );
    }

    #[test]
    fn the_first_node_of_a_list_is_found() {
        for (list, first) in
            [("a", "a"), ("a,b", "a"), ("n[1-3]", "n1"), ("n[07,9]-x,m", "n07-x"), ("a,n[1-2]", "a")]
        {
            assert_eq!(first_node(list), first);
        }
    }
}
