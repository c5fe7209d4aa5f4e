/* A driver that cannot say its version. */
int cuInit(unsigned flags) { return (void)flags, 0; }
int cuDriverGetVersion(int *version) { return (void)version, 999; }
