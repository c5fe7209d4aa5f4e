/* A driver that exports little, and gives the rest when asked. It has cuCtxCreate_v3 and not _v4, and its
   answer for a version is the newest revision up to that version, as with real drivers. */
#include <string.h>

int cuInit(unsigned flags) { return (void)flags, 100; }
int cuDriverGetVersion(int *version) { return *version = 12060, 0; }
int cuCtxCreate_v3(void) { return 3; }
static int mem_alloc_v2(void) { return 7; }

int cuGetProcAddress_v2(const char *name, void **address, int version, unsigned long long flags, void *status) {
    (void)flags, (void)status;
    *address = 0;
    if (!strcmp(name, "cuMemAlloc") && version >= 3020) *address = (void *)mem_alloc_v2;
    if (!strcmp(name, "cuCtxCreate") && version >= 11040) *address = (void *)cuCtxCreate_v3;
    return 0;
}
