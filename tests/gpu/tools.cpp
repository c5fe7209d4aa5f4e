// What the driver's tools answer: settings of core dumps (which sizes each takes, and what it writes), a notice of a budget,
// and checkpoints of another process and of this one.
// nvcc tools.cpp -lcuda; the record is tests/data/goldens/tools.txt, without the lines of the victims.
#include <cuda.h>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>
#include <signal.h>
#include <sys/wait.h>
#include <initializer_list>

static void *sym(const char *name) {
    void *f = dlsym(RTLD_DEFAULT, name);
    if (!f) printf("no %s\n", name);
    return f;
}
typedef CUresult (*Attr)(unsigned, void *, size_t *);

static void show(const char *what, Attr get, unsigned attr, size_t room) {
    unsigned char buf[2048];
    memset(buf, 0xAA, sizeof buf);
    size_t size = room;
    CUresult r = get(attr, buf, &size);
    printf("%s attr %u room %zu -> %d, size %zu, bytes %02x %02x %02x %02x %02x", what, attr, room, r, size, buf[0], buf[1], buf[2], buf[3], buf[4]);
    if (attr == 5 || attr == 6) printf(" text '%.200s'", buf);
    size_t touched = sizeof buf;
    while (touched && buf[touched - 1] == 0xAA) touched--;
    printf(" touched %zu\n", touched);
}

static void coredump() {
    Attr getG = (Attr)sym("cuCoredumpGetAttributeGlobal"), setG = (Attr)sym("cuCoredumpSetAttributeGlobal");
    Attr get = (Attr)sym("cuCoredumpGetAttribute"), set = (Attr)sym("cuCoredumpSetAttribute");
    if (!getG || !setG || !get || !set) return;
    show("global before init", getG, 1, 1);
    char before[] = "/tmp/before_init.core"; size_t n = sizeof before;
    printf("set global file before init -> %d\n", setG(5, before, &n));
    printf("init %d\n", cuInit(0));
    for (unsigned a = 1; a <= 8; a++) for (size_t room : {0ul, 1ul, 4ul, 8ul, 1023ul, 1024ul, 2048ul}) show("global", getG, a, room);
    size_t size = 1024; printf("global null value attr 5 -> %d", getG(5, nullptr, &size)); printf(" size %zu\n", size);
    show("no context", get, 1, 1);
    CUcontext ctx; CUdevice dev; cuDeviceGet(&dev, 0);
#if CUDA_VERSION >= 13000
    printf("create %d\n", cuCtxCreate(&ctx, nullptr, 0, dev));
#else
    printf("create %d\n", cuCtxCreate(&ctx, 0, dev));
#endif
    for (unsigned a = 1; a <= 7; a++) for (size_t room : {1ul, 4ul, 1024ul}) show("context", get, a, room);
    for (Attr s : {set, setG}) {
        Attr g = s == set ? get : getG;
        const char *who = s == set ? "context" : "global";
        for (size_t extra : {0ul, 1ul}) {
            char text[] = "/tmp/named.core"; size = strlen(text) + extra;
            printf("%s set file, size %zu -> %d\n", who, size, s(5, text, &size)); show(who, g, 5, 1024);
        }
        char more[] = "/tmp/abcdefgh.core.more"; size = 12;
        printf("%s set file of 12 bytes without NUL -> %d\n", who, s(5, more, &size)); show(who, g, 5, 1024);
        char longer[1100]; memset(longer, 'x', sizeof longer); longer[1099] = 0;
        for (size_t len : {1023ul, 1024ul, 1025ul}) { longer[len - 1] = 0; size = len; printf("%s set file of %zu with NUL -> %d\n", who, len, s(5, longer, &size)); longer[len - 1] = 'x'; }
        show(who, g, 5, 1024);
        char pipe[] = "/tmp/named.pipe"; size = sizeof pipe;
        printf("%s set pipe -> %d\n", who, s(6, pipe, &size)); show(who, g, 6, 1024);
        for (unsigned a : {1u, 2u, 3u, 4u}) { for (size_t sz : {1ul, 4ul}) { unsigned v = 1; size = sz; printf("%s set %u to true, size %zu -> %d\n", who, a, sz, s(a, &v, &size)); show(who, g, a, 4); } }
        for (unsigned v : {0u, 47u, 303u, 0x7fffffffu}) { for (size_t sz : {4ul, 8ul}) { unsigned long w = v; size = sz; printf("%s set flags to %u, size %zu -> %d\n", who, v, sz, s(7, &w, &size)); show(who, g, 7, 8); } }
        unsigned v = 0; size = 1; printf("%s set 1 to false -> %d\n", who, s(1, &v, &size)); size = 1; printf("%s set 4 to false -> %d\n", who, s(4, &v, &size));
    }
    typedef CUresult (*Reg)(void (*)(void *, int, CUdevice), void *, void **);
    Reg reg = (Reg)sym("cuCoredumpRegisterStartCallback");
    if (reg) { void *h = nullptr; printf("register start callback %d %p\n", reg([](void *, int, CUdevice) {}, nullptr, &h), h); }
    typedef CUresult (*Note)(CUdevice, void *, void *, void **);
    Note note = (Note)sym("cuDeviceRegisterAsyncNotification");
    if (note) {
        void *h = nullptr; CUresult r = note(dev, (void *)+[](void *, void *, void *) {}, nullptr, &h);
        printf("register notification %d %p\n", r, h);
        typedef CUresult (*Un)(CUdevice, void *); Un un = (Un)sym("cuDeviceUnregisterAsyncNotification");
        if (un) { printf("unregister %d\n", un(dev, h)); printf("unregister null %d\n", un(dev, nullptr)); }
    }
    cuCtxDestroy(ctx);
}

static void victim() {
    CUcontext ctx; CUdevice dev; CUdeviceptr p; unsigned *host;
    cuInit(0); cuDeviceGet(&dev, 0);
#if CUDA_VERSION >= 13000
    cuCtxCreate(&ctx, nullptr, 0, dev);
#else
    cuCtxCreate(&ctx, 0, dev);
#endif
    cuMemAlloc(&p, 4096); cuMemsetD32(p, 0x1234, 1024);
    cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP);
    for (int i = 0; i < 60; i++) {
        unsigned v = 0; CUresult r = cuMemcpyDtoH(&v, p, 4); host[0] = i;
        printf("  victim %d: copy %d value %x\n", i, r, v); fflush(stdout); usleep(100000);
    }
}

typedef CUresult (*Pid)(int, void *);
static void drive(int pid) {
    Pid state = (Pid)sym("cuCheckpointProcessGetState"), tid = (Pid)sym("cuCheckpointProcessGetRestoreThreadId"), lock = (Pid)sym("cuCheckpointProcessLock"),
        check = (Pid)sym("cuCheckpointProcessCheckpoint"), restore = (Pid)sym("cuCheckpointProcessRestore"), unlock = (Pid)sym("cuCheckpointProcessUnlock");
    if (!state || !lock || !check || !restore || !unlock) return;
    unsigned long args[8];
    auto told = [&](const char *what, CUresult r) { unsigned s = 99; CUresult q = state(pid, &s); printf("%s -> %d; state %d %u\n", what, r, q, s); fflush(stdout); };
    told("start", CUDA_SUCCESS);
    int t = 0; CUresult r = tid(pid, &t); printf("restore thread %d %d (pid %d)\n", r, t, pid);
    told("checkpoint before lock", check(pid, nullptr)); told("unlock before lock", unlock(pid, nullptr)); told("restore before all", restore(pid, nullptr));
    memset(args, 0, sizeof args); args[0] = 2000; told("lock 2000 ms", lock(pid, args)); told("lock again", lock(pid, args));
    usleep(500000); told("unlock", unlock(pid, nullptr)); usleep(300000);
    told("lock null args", lock(pid, nullptr)); told("checkpoint", check(pid, nullptr)); told("unlock while checkpointed", unlock(pid, nullptr)); usleep(500000);
    memset(args, 0, sizeof args); told("restore", restore(pid, args)); memset(args, 0, sizeof args); told("unlock", unlock(pid, args)); usleep(500000);
    told("of no process", state(999999, args)); 
}

int main(int argc, char **argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "victim")) { victim(); return 0; }
    if (argc > 1 && !strcmp(argv[1], "self")) { alarm(20); cuInit(0); victim(); printf("self\n"); drive(getpid()); victim(); return 0; }
    int child = fork();
    if (!child) { execl("/proc/self/exe", argv[0], "victim", (char *)nullptr); _exit(1); }
    sleep(3);
    printf("before init of this process: "); drive(child);
    kill(child, SIGKILL); waitpid(child, nullptr, 0);
    coredump();
    child = fork();
    if (!child) { execl("/proc/self/exe", argv[0], "self", (char *)nullptr); _exit(1); }
    int status = 0; waitpid(child, &status, 0); printf("self ended with %x\n", status);
    return 0;
}
