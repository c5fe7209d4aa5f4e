# rustc 1.95.0 (59807616e 2026-04-14)

alloc:
    movq %rsi, %rcx
    movq %rdi, %rax
    leaq (,%rdx,4), %rsi
    movq %rdx, %rdi
    shrq $62, %rdi
    sete %dil
    testq %rsi, %rsi
    setns %r8b
    testb %r8b, %dil
    je .2
    pushq %r15
    pushq %r14
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rcx), %rbx
    movl 8(%rcx), %edi
    movq 24(%rbx), %rcx
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %r8
    cmpq %rcx, %fs:32(%r8)
    jne .cold
    cmpl %edi, %fs:48(%r8)
    jne .cold
    movq $0, (%rsp)
    testq %rsi, %rsi
    je .3
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    movq %rdx, %r12
    movq %rsp, %rdi
    callq *cuMemAlloc_v2(%r14)
    testl %eax, %eax
    jne .cold
    movq (%rsp), %r14
    movq %r15, %rax
    movq %r12, %rdx
    cmpb $0, 64(%rbx)
    jne .cold
.1:
    movq %rbx, 8(%rax)
    movq %r14, 16(%rax)
    movq %rdx, 24(%rax)
    movl $19, (%rax)
    addq $8, %rsp
    popq %rbx
    popq %r12
    popq %r14
    popq %r15
    retq
.2:
    movl $0, (%rax)
    movq %rdx, 8(%rax)
    movq $4, 16(%rax)
    retq
.3:
    xorl %r14d, %r14d
    cmpb $0, 64(%rbx)
    je .1
    # else to .cold

copy_from_host:
    movq %rdi, %rax
    movq 16(%rsi), %rdi
    cmpq %r8, %rdi
    jne .1
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rdx), %rbx
    movl 8(%rdx), %r9d
    movq (%rsi), %r15
    movq 8(%rsi), %rdi
    movq 24(%rbx), %rsi
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %rsi, %fs:32(%rdx)
    jne .cold
    cmpl %r9d, %fs:48(%rdx)
    jne .cold
    cmpq %r15, %rbx
    je .3
    movq 24(%rbx), %rdx
    movl $2147418129, %r14d
    movl $10027008, %r12d
    cmpq 24(%r15), %rdx
    je .2
    movl $18, (%rax)
    movl %r14d, 4(%rax)
    movl %r12d, 8(%rax)
    jmp .5
.1:
    movl $1, (%rax)
    movq %rdi, 8(%rax)
    movq %r8, 16(%rax)
    retq
.2:
    movq (%rbx), %rdx
    movq (%r15), %rsi
    cmpq %rsi, %rdx
    jne .cold
.3:
    testq %r8, %r8
    je .4
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rdx
    movl (%rdx), %edx
    cmpl %edx, %eax
    ja .cold
    shlq $2, %r8
    movq %rcx, %rsi
    movq %r8, %rdx
    callq *cuMemcpyHtoD_v2(%r14)
    testl %eax, %eax
    jne .cold
    movq 16(%rbx), %rax
    movq 40(%rax), %rax
    testb $1, %al
    movq %r15, %rax
    je .cold
.4:
    movl $19, (%rax)
.5:
    addq $8, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq

copy_to_host:
    movq %rdi, %rax
    movq 16(%rsi), %rdi
    cmpq %rdi, %r8
    jne .1
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rdx), %rbx
    movl 8(%rdx), %edi
    movq (%rsi), %r15
    movq 8(%rsi), %rsi
    movq 24(%rbx), %r9
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %r9, %fs:32(%rdx)
    jne .cold
    cmpl %edi, %fs:48(%rdx)
    jne .cold
    cmpq %r15, %rbx
    je .3
    movq 24(%rbx), %rdx
    movl $2147418129, %r14d
    movl $10158080, %r12d
    cmpq 24(%r15), %rdx
    je .2
    movl $18, (%rax)
    movl %r14d, 4(%rax)
    movl %r12d, 8(%rax)
    jmp .5
.1:
    movl $1, (%rax)
    movq %r8, 8(%rax)
    movq %rdi, 16(%rax)
    retq
.2:
    movq (%rbx), %rdi
    movq (%r15), %rdx
    cmpq %rdx, %rdi
    jne .cold
.3:
    testq %r8, %r8
    je .4
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rdx
    movl (%rdx), %edx
    cmpl %edx, %eax
    ja .cold
    shlq $2, %r8
    movq %rcx, %rdi
    movq %r8, %rdx
    callq *cuMemcpyDtoH_v2(%r14)
    movl %eax, %esi
    testl %eax, %eax
    movq %r15, %rax
    jne .cold
.4:
    movl $19, (%rax)
.5:
    addq $8, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq

copy_within:
    movq %rdx, %r8
    movq %rdi, %rax
    movq 16(%rsi), %rdi
    movq 16(%rcx), %rdx
    cmpq %rdx, %rdi
    jne .3
    leaq (,%rdi,4), %rdx
    movq %rdi, %r9
    shrq $62, %r9
    sete %r9b
    testq %rdx, %rdx
    setns %r10b
    testb %r10b, %r9b
    je .4
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    subq $24, %rsp
    movq (%r8), %rbx
    movl 8(%r8), %r8d
    movq (%rsi), %r13
    movq 8(%rsi), %rdi
    movq (%rcx), %r15
    movq 8(%rcx), %rsi
    movq 24(%rbx), %rcx
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %r9
    cmpq %rcx, %fs:32(%r9)
    jne .cold
    cmpl %r8d, %fs:48(%r9)
    jne .cold
    cmpq %rbx, %r13
    je .1
    movq 24(%r13), %rcx
    movl $2147418129, %r14d
    movl $10289152, %r12d
    cmpq 24(%rbx), %rcx
    jne .2
    movq (%r13), %rcx
    movq (%rbx), %r8
    cmpq %r8, %rcx
    jne .cold
.1:
    cmpq %rbx, %r15
    je .6
    movq 24(%r15), %rcx
    movl $2147418129, %r14d
    movl $10289152, %r12d
    cmpq 24(%rbx), %rcx
    je .5
.2:
    movl $18, (%rax)
    movl %r14d, 4(%rax)
    movl %r12d, 8(%rax)
    jmp .8
.3:
    movl $1, (%rax)
    movq %rdi, 8(%rax)
    movq %rdx, 16(%rax)
    retq
.4:
    movl $0, (%rax)
    movq %rdi, 8(%rax)
    movq $4, 16(%rax)
    retq
.5:
    movq (%r15), %rcx
    movq (%rbx), %r8
    cmpq %r8, %rcx
    jne .cold
.6:
    testq %rdx, %rdx
    je .7
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    callq *cuMemcpyDtoD_v2(%r14)
    testl %eax, %eax
    jne .cold
    movq 16(%rbx), %rax
    movq 40(%rax), %rax
    testb $1, %al
    movq %r15, %rax
    je .cold
.7:
    movl $19, (%rax)
.8:
    addq $24, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq

fill:
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    pushq %rax
    movq %rdi, %rbx
    movq (%rdx), %r14
    movl 8(%rdx), %eax
    movq (%rsi), %r15
    movq 8(%rsi), %rdi
    movq 16(%rsi), %rdx
    movq 24(%r14), %rsi
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %r8
    cmpq %rsi, %fs:32(%r8)
    jne .cold
    cmpl %eax, %fs:48(%r8)
    jne .cold
    cmpq %r15, %r14
    je .2
    movq 24(%r14), %rsi
    movl $2147418129, %eax
    movl $12648448, %r12d
    cmpq 24(%r15), %rsi
    je .1
    movl $18, (%rbx)
    movl %eax, 4(%rbx)
    movl %r12d, 8(%rbx)
    jmp .4
.1:
    movq (%r14), %rax
    movq (%r15), %rsi
    cmpq %rsi, %rax
    jne .cold
.2:
    testq %rdx, %rdx
    je .3
    movq (%r14), %r15
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r15), %rsi
    movl (%rsi), %esi
    cmpl %esi, %eax
    ja .cold
    movl %ecx, %esi
    callq *cuMemsetD32_v2(%r15)
    testl %eax, %eax
    jne .cold
    movq 16(%r14), %rax
    movq 40(%rax), %rax
    testb $1, %al
    je .cold
.3:
    movl $19, (%rbx)
.4:
    movq %rbx, %rax
    addq $8, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq

free_buffer:
    pushq %r15
    pushq %r14
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rdi), %rbx
    movq 8(%rdi), %r14
    testq %r14, %r14
    je .5
    movq (%rbx), %r15
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movq table_end+0(%r15), %rax
    movl (%rax), %edx
    cmpl %edx, %ecx
    ja .cold
    movzbl 48(%rbx), %ecx
    testb %cl, %cl
    je .1
    # else to .cold
.1:
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %rcx
    movq %fs:32(%rcx), %rdx
    cmpq 24(%rbx), %rdx
    je .3
.2:
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movl (%rax), %eax
    cmpl %eax, %ecx
    ja .cold
    movq 24(%rbx), %rdi
    callq *cuCtxPushCurrent_v2(%r15)
    testl %eax, %eax
    jne .cold
    movzbl cuprum::context::captures::EVER(%rip), %eax
    testb %al, %al
    jne .cold
    movq (%rbx), %rax
    movq %r14, %rdi
    callq *cuMemFree_v2(%rax)
    testl %eax, %eax
    jne .cold
    movabsq $168603511049682944, %r14
    xorl %r15d, %r15d
    movq $0, (%rsp)
    movq (%rbx), %r12
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r12), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    movq %rsp, %rdi
    callq *cuCtxPopCurrent_v2(%r12)
    testl %eax, %eax
    jne .cold
    movabsq $281474976710655, %rax
    andq %rax, %r15
    orq %r15, %r14
    movq %r14, %rax
    shrq $48, %rax
    cmpl $599, %eax
    je .5
    jmp .4
.3:
    movq %fs:40(%rcx), %rdi
    testq %rdi, %rdi
    je .2
    cmpq %r15, %rdi
    jne .cold
    movzbl cuprum::context::captures::EVER(%rip), %eax
    testb %al, %al
    jne .cold
    movq (%rbx), %rax
    movq %r14, %rdi
    callq *cuMemFree_v2(%rax)
    testl %eax, %eax
    jne .cold
    movabsq $168603511049682944, %rcx
    xorl %eax, %eax
    movabsq $281474976710655, %r14
    andq %rax, %r14
    orq %rcx, %r14
    movq %r14, %rax
    shrq $48, %rax
    cmpl $599, %eax
    je .5
.4:
    cmpl $4, %r14d
    jne .cold
.5:
    cmpb $1, 64(%rbx)
    je .cold
    addq $8, %rsp
    popq %rbx
    popq %r12
    popq %r14
    popq %r15
    retq

launch:
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    subq $136, %rsp
    movq %r9, %r13
    movq %r8, %rbp
    movq %rcx, %r15
    movq %rdx, %r12
    movq %rsi, %r14
    movq %rdi, 40(%rsp)
    movl (%r8), %esi
    movl 12(%r8), %r8d
    movl 16(%rbp), %r9d
    movl 20(%rbp), %r11d
    movl 24(%rbp), %ebx
    leal -1(%rsi), %eax
    cmpl 24(%r14), %eax
    movq %r11, 96(%rsp)
    jae .cold
    movl 8(%rbp), %ecx
    leal -1(%rcx), %eax
    cmpl 32(%r14), %eax
    jae .cold
    movl 4(%rbp), %edx
    leal -1(%rdx), %eax
    cmpl 28(%r14), %eax
    jae .cold
    leal -1(%r8), %eax
    cmpl 36(%r14), %eax
    jae .cold
    leal -1(%r11), %eax
    cmpl 44(%r14), %eax
    jae .cold
    leal -1(%r9), %eax
    cmpl 40(%r14), %eax
    jae .cold
    movq %r9, %rdi
    imulq %r8, %rdi
    imulq %r11, %rdi
    cmpl 52(%r14), %ebx
    movl 48(%r14), %r10d
    setbe %al
    cmpq %r10, %rdi
    ja .8
    testb %al, %al
    je .cold
.1:
    movq (%r13), %rax
    movq 8(%r13), %rdi
    movq 16(%r13), %r10
    movl 24(%r13), %r11d
    movq 8(%rax), %rax
    movq %rax, 104(%rsp)
    movq 8(%rdi), %rax
    movq %rax, 112(%rsp)
    movq 8(%r10), %rax
    movq %rax, 120(%rsp)
    movl %r11d, 60(%rsp)
    leaq 104(%rsp), %rax
    movq %rax, 64(%rsp)
    leaq 112(%rsp), %rax
    movq %rax, 72(%rsp)
    leaq 120(%rsp), %rax
    movq %rax, 80(%rsp)
    leaq 60(%rsp), %rax
    movq %rax, 88(%rsp)
    movq (%r14), %rbp
    movq 8(%r14), %rdi
    movq (%r12), %r14
    movl 8(%r12), %eax
    movq (%r15), %r13
    movq 8(%r15), %r12
    movq 24(%r14), %r10
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %r11
    cmpq %r10, %fs:32(%r11)
    jne .cold
    cmpl %eax, %fs:48(%r11)
    jne .cold
    cmpq %r14, %rbp
    movq %rbx, %r11
    je .2
    movq 24(%rbp), %r10
    movl $2147418129, %eax
    movl $23330816, %r15d
    cmpq 24(%r14), %r10
    jne .3
    movq (%rbp), %rax
    movq (%r14), %r10
    cmpq %r10, %rax
    jne .cold
.2:
    cmpq %r14, %r13
    je .5
    movq 24(%r13), %r10
    movl $2147418129, %eax
    movl $23330816, %r15d
    cmpq 24(%r14), %r10
    je .4
.3:
    movl %eax, 128(%rsp)
    movl %r15d, 132(%rsp)
    movq %r15, %rcx
    shlq $32, %rcx
    movl %eax, %eax
    orq %rcx, %rax
    shrl $16, %r15d
    movq 40(%rsp), %rbx
    cmpl $599, %r15d
    je .6
    shlq $48, %r15
    movabsq $281474976710655, %rcx
    andq %rcx, %rax
    orq %r15, %rax
    movl $4, (%rbx)
    movq %rax, 4(%rbx)
    jmp .7
.4:
    movq (%r13), %rax
    movq (%r14), %r10
    cmpq %r10, %rax
    jne .cold
.5:
    movq (%r14), %r15
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r15), %r10
    movl (%r10), %r10d
    cmpl %r10d, %eax
    ja .cold
    subq $8, %rsp
    leaq 72(%rsp), %rax
    pushq $0
    pushq %rax
    pushq %r12
    pushq %r11
    pushq 136(%rsp)
    callq *cuLaunchKernel(%r15)
    addq $48, %rsp
    testl %eax, %eax
    jne .cold
    movq 40(%rsp), %rbx
.6:
    movl $5, (%rbx)
.7:
    movq %rbx, %rax
    addq $136, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq
.8:
    xorl %eax, %eax
    testb %al, %al
    jne .1
    # else to .cold

push_and_pop:
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    subq $32, %rsp
    movq %rsi, %r15
    movq (%rdi), %r14
    movl 8(%rdi), %ebx
    movq (%rsi), %r12
    movq (%r14), %rsi
    cmpq %rsi, %r12
    jne .cold
    movq 24(%r14), %r14
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %r13
    cmpq %r14, %fs:32(%r13)
    jne .cold
    cmpl %ebx, %fs:48(%r13)
    jne .cold
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r12), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    movq 24(%r15), %rdi
    callq *cuCtxPushCurrent_v2(%r12)
    testl %eax, %eax
    jne .cold
    testl %ebx, %ebx
    jne .1
    movq %r12, %fs:40(%r13)
.1:
    leal 1(%rbx), %eax
    movl %eax, %fs:48(%r13)
    movq 24(%r15), %r12
    movq %r12, %fs:32(%r13)
    movq %r15, 8(%rsp)
    movq %rax, 16(%rsp)
    movq %r14, 24(%rsp)
    xorl %esi, %esi
    cmpl %eax, %fs:48(%r13)
    jne .cold
    cmpl %ebx, %fs:8(%r13)
    ja .cold
    movq (%r15), %rax
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movq table_end+0(%rax), %rdx
    movl (%rdx), %edi
    cmpl %edi, %ecx
    ja .cold
    movq $0, (%rsp)
    movq %rsp, %rdi
    callq *cuCtxPopCurrent_v2(%rax)
    movl %eax, %edx
    testl %eax, %eax
    jne .cold
    cmpq %r12, (%rsp)
    jne .cold
    movl %ebx, %fs:48(%r13)
    movq %r14, %fs:32(%r13)
    movabsq $168603511049682944, %rax
    jmp .2
.2:
    addq $32, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    retq

record:
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    subq $16, %rsp
    movq (%rdi), %r12
    movq 8(%rdi), %rdi
    movq (%rsi), %rbx
    movl 8(%rsi), %eax
    movq (%rdx), %r15
    movq 8(%rdx), %rsi
    movq 24(%rbx), %rcx
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %rcx, %fs:32(%rdx)
    jne .cold
    cmpl %eax, %fs:48(%rdx)
    jne .cold
    cmpq %rbx, %r12
    je .1
    movq 24(%r12), %rcx
    movl $2147418129, %eax
    movl $21299200, %r14d
    cmpq 24(%rbx), %rcx
    jne .2
    movq (%r12), %rax
    movq (%rbx), %rcx
    cmpq %rcx, %rax
    jne .cold
.1:
    cmpq %rbx, %r15
    je .4
    movq 24(%r15), %rcx
    movl $2147418129, %eax
    movl $21299200, %r14d
    cmpq 24(%rbx), %rcx
    je .3
.2:
    movl %eax, 8(%rsp)
    movl %r14d, 12(%rsp)
    movq %r14, %rcx
    shlq $32, %rcx
    movl %eax, %eax
    orq %rcx, %rax
    shrl $16, %r14d
    jmp .5
.3:
    movq (%r15), %rax
    movq (%rbx), %rcx
    cmpq %rcx, %rax
    jne .cold
.4:
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    callq *cuEventRecord(%r14)
    testl %eax, %eax
    jne .cold
    movl $599, %r14d
.5:
    shlq $48, %r14
    movabsq $281474976710655, %rcx
    andq %rax, %rcx
    orq %r14, %rcx
    movq %rcx, %rax
    addq $16, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    retq

synchronize:
    pushq %r15
    pushq %r14
    pushq %rbx
    subq $16, %rsp
    movq (%rdi), %r15
    movq 8(%rdi), %rdi
    movq (%rsi), %rbx
    movl 8(%rsi), %eax
    movq 24(%rbx), %rsi
    movq cuprum::context::record::THREAD@GOTTPOFF(%rip), %rcx
    cmpq %rsi, %fs:32(%rcx)
    jne .cold
    cmpl %eax, %fs:48(%rcx)
    jne .cold
    cmpq %r15, %rbx
    je .2
    movq 24(%rbx), %rcx
    movl $2147418129, %eax
    movl $19726336, %r14d
    cmpq 24(%r15), %rcx
    je .1
    movl %eax, 8(%rsp)
    movl %r14d, 12(%rsp)
    movq %r14, %rcx
    shlq $32, %rcx
    movl %eax, %eax
    orq %rcx, %rax
    shrl $16, %r14d
    jmp .3
.1:
    movq (%rbx), %rax
    movq (%r15), %rsi
    cmpq %rsi, %rax
    jne .cold
.2:
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl (%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    callq *cuStreamSynchronize(%r14)
    testl %eax, %eax
    jne .cold
    movl $599, %r14d
.3:
    shlq $48, %r14
    movabsq $281474976710655, %rcx
    andq %rax, %rcx
    orq %r14, %rcx
    movq %rcx, %rax
    addq $16, %rsp
    popq %rbx
    popq %r14
    popq %r15
    retq
