/* An NVRTC that lacks nvrtcVersion. */
int nvrtcCreateProgram(void) { return 1; }
