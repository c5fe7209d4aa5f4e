/* A host that knows nothing of Rust or CUDA: it loads a plugin, uses it on two threads, and unloads it, again and again.

       cc -std=c11 host.c -o host -ldl -lpthread
       ./host PLUGIN TIMES
*/

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Plugin Plugin;
typedef Plugin *start_function(void);
typedef int scale_function(const Plugin *, float *, size_t, float);
typedef int stop_function(Plugin *);

typedef struct {
    start_function *start;
    scale_function *scale;
    stop_function *stop;
    Plugin *plugin;
} Loaded;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *use(void *argument) {
    enum { N = 1000 };
    Loaded *loaded = argument;
    float numbers[N];
    for (int i = 0; i < N; ++i) {
        numbers[i] = (float)i;
    }
    if (loaded->scale(loaded->plugin, numbers, N, 2.0f) != 0) {
        fail("the plugin did not scale");
    }
    for (int i = 0; i < N; ++i) {
        if (numbers[i] != 3.0f * (float)i) {
            fail("the plugin scaled wrongly");
        }
    }
    return NULL;
}

/* True if a file is mapped into this process. */
static int is_mapped(const char *path) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) {
        fail("no maps");
    }
    while (!found && fgets(line, sizeof line, maps)) {
        found = strstr(line, path) != NULL;
    }
    fclose(maps);
    return found;
}

static void *find(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fail(dlerror());
    }
    return function;
}

/* Once around. */
static void load_use_unload(const char *path) {
    Loaded loaded;
    pthread_t thread;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(dlerror());
    }
    *(void **)&loaded.start = find(library, "plugin_start");
    *(void **)&loaded.scale = find(library, "plugin_scale");
    *(void **)&loaded.stop = find(library, "plugin_stop");
    loaded.plugin = loaded.start();
    if (!loaded.plugin) {
        fail("the plugin did not start");
    }
    use(&loaded);
    if (pthread_create(&thread, NULL, use, &loaded) != 0) {
        fail("no thread");
    }
    pthread_join(thread, NULL);
    if (loaded.stop(loaded.plugin) != 0) {
        fail("the plugin did not stop");
    }
    dlclose(library);
}

static const char *plugin_path;

static void *load_use_unload_thread(void *unused) {
    load_use_unload(plugin_path);
    return unused;
}

static long resident_kib(void) {
    long size = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld %ld", &size, &resident) != 2) {
        fail("no statm");
    }
    fclose(statm);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **arguments) {
    int unmapped = 0, times = count > 2 ? atoi(arguments[2]) : 1;
    long before = 0;
    if (count < 2) {
        fail("name a plugin");
    }
    plugin_path = arguments[1];
    for (int i = 0; i < times; ++i) {
        pthread_t thread;
        pid_t child;
        int status;
        if (i == times / 2) {
            before = resident_kib();
        }
        /* On a thread of its own: what it has of the plugin, destructors of thread-local variables, goes with it. */
        if (pthread_create(&thread, NULL, load_use_unload_thread, NULL) != 0) {
            fail("no thread");
        }
        pthread_join(thread, NULL);
        /* The C library looks for what it can unmap when something is closed. */
        dlclose(dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL));
        unmapped += !is_mapped(plugin_path);
        /* A fork now must not call a handler in unloaded code. */
        child = fork();
        if (child == 0) {
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0) {
            fail("a fork failed");
        }
    }
    printf("%d times, unmapped %d times\n", times, unmapped);
    fprintf(stderr, "the later half grew by %ld KiB\n", resident_kib() - before);
    /* And on the first thread, which lives to the end: it stays mapped, and works again. */
    for (int i = 0; i < times; ++i) {
        load_use_unload(plugin_path);
    }
    printf("%d times on the first thread\n", times);
    return 0;
}
