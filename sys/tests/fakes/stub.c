/* Like the library that the toolkit ships to link against. */
int cuInit(unsigned flags) { return (void)flags, 34; }
int cuDriverGetVersion(int *version) { return (void)version, 34; }
