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
    movq 16(%rbx), %rcx
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %r8
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
    movl 8(%rcx), %ecx
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
    cmpq $0, 40(%rbx)
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
    cmpq $0, 40(%rbx)
    je .1
    # else to .cold

copy_from_host:
    movq %rdi, %rax
    movq 16(%rsi), %rdi
    cmpq %r8, %rdi
    jne .2
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rsi), %r14
    movq 8(%rsi), %rdi
    movq (%rdx), %rbx
    movl 8(%rdx), %r9d
    movq 16(%rbx), %rsi
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %rsi, %fs:32(%rdx)
    jne .cold
    cmpl %r9d, %fs:48(%rdx)
    jne .cold
    cmpq %r14, %rbx
    je .3
    movq 16(%rbx), %r9
    movl $2147418129, %edx
    movl $10027008, %esi
    cmpq 16(%r14), %r9
    jne .1
    movq (%rbx), %r9
    cmpq (%r14), %r9
    je .3
.1:
    movl $18, (%rax)
    movl %edx, 4(%rax)
    movl %esi, 8(%rax)
    jmp .5
.2:
    movl $1, (%rax)
    movq %rdi, 8(%rax)
    movq %r8, 16(%rax)
    retq
.3:
    testq %r8, %r8
    je .4
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rdx
    movl 8(%rdx), %edx
    cmpl %edx, %eax
    ja .cold
    shlq $2, %r8
    movq %rcx, %rsi
    movq %r8, %rdx
    callq *cuMemcpyHtoD_v2(%r14)
    testl %eax, %eax
    jne .cold
    movq (%rbx), %rax
    cmpb $0, table_end+92(%rax)
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

copy_to_host:
    movq %rdi, %rax
    movq 16(%rsi), %rdi
    cmpq %rdi, %r8
    jne .2
    pushq %rbp
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    pushq %rax
    movq (%rsi), %r14
    movq 8(%rsi), %rsi
    movq (%rdx), %rbx
    movl 8(%rdx), %edi
    movq 16(%rbx), %r9
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %r9, %fs:32(%rdx)
    jne .cold
    cmpl %edi, %fs:48(%rdx)
    jne .cold
    cmpq %r14, %rbx
    je .3
    movq 16(%rbx), %r9
    movl $2147418129, %edx
    movl $10158080, %edi
    cmpq 16(%r14), %r9
    jne .1
    movq (%rbx), %r9
    cmpq (%r14), %r9
    je .3
.1:
    movl $18, (%rax)
    movl %edx, 4(%rax)
    movl %edi, 8(%rax)
    jmp .5
.2:
    movl $1, (%rax)
    movq %r8, 8(%rax)
    movq %rdi, 16(%rax)
    retq
.3:
    testq %r8, %r8
    je .4
    movq %rax, %r15
    movq (%rbx), %r14
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rdx
    movl 8(%rdx), %edx
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

free:
    pushq %r15
    pushq %r14
    pushq %rbx
    subq $16, %rsp
    movq (%rdi), %rbx
    movq 8(%rdi), %r14
    testq %r14, %r14
    je .2
    movq (%rbx), %r15
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movq table_end+0(%r15), %rax
    movl 8(%rax), %edx
    cmpl %edx, %ecx
    ja .cold
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %rcx
    movq 16(%rbx), %rdi
    cmpq %rdi, %fs:32(%rcx)
    jne .1
    cmpq %r15, %fs:40(%rcx)
    jne .1
    movq %r14, %rdi
    callq *cuMemFree_v2(%r15)
    testl %eax, %eax
    je .2
    # else to .cold
.1:
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movl 8(%rax), %eax
    cmpl %eax, %ecx
    ja .cold
    callq *cuCtxPushCurrent_v2(%r15)
    testl %eax, %eax
    jne .cold
    movq (%rbx), %rax
    movq %r14, %rdi
    callq *cuMemFree_v2(%rax)
    testl %eax, %eax
    jne .cold
    movabsq $168603511049682944, %r14
    movq $0, 8(%rsp)
    movq (%rbx), %r15
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r15), %rcx
    movl 8(%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    leaq 8(%rsp), %rdi
    callq *cuCtxPopCurrent_v2(%r15)
    testl %eax, %eax
    jne .cold
    movq %r14, %rax
    shrq $48, %rax
    cmpl $599, %eax
    je .2
    cmpl $4, %r14d
    je .2
    # else to .cold
.2:
    cmpq $0, 40(%rbx)
    jne .cold
    addq $16, %rsp
    popq %rbx
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
    movq %rcx, %r13
    movq %rdx, %rbp
    movq %rdi, %rax
    movl (%r8), %ecx
    movl 12(%r8), %ebx
    movl 16(%r8), %r14d
    movl 20(%r8), %r15d
    movl 24(%r8), %r12d
    movq %rcx, 80(%rsp)
    decl %ecx
    cmpl 24(%rsi), %ecx
    movq %r15, 96(%rsp)
    movq %r12, 88(%rsp)
    jae .cold
    movl 8(%r8), %ecx
    leal -1(%rcx), %edx
    cmpl 32(%rsi), %edx
    jae .cold
    movl 4(%r8), %edx
    leal -1(%rdx), %edi
    cmpl 28(%rsi), %edi
    jae .cold
    leal -1(%rbx), %edi
    cmpl 36(%rsi), %edi
    jae .cold
    leal -1(%r15), %edi
    cmpl 44(%rsi), %edi
    jae .cold
    leal -1(%r14), %edi
    cmpl 40(%rsi), %edi
    jae .cold
    movq %r14, %r10
    imulq %rbx, %r10
    imulq %r15, %r10
    cmpl 52(%rsi), %r12d
    movl 48(%rsi), %r11d
    setbe %dil
    cmpq %r11, %r10
    ja .8
    testb %dil, %dil
    je .cold
.1:
    movq (%r9), %rdi
    movq 8(%r9), %r8
    movq 16(%r9), %r10
    movl 24(%r9), %r9d
    movq 8(%rdi), %rdi
    movq %rdi, 104(%rsp)
    movq 8(%r8), %rdi
    movq %rdi, 112(%rsp)
    movq 8(%r10), %rdi
    movq %rdi, 120(%rsp)
    movl %r9d, 28(%rsp)
    leaq 104(%rsp), %rdi
    movq %rdi, 32(%rsp)
    leaq 112(%rsp), %rdi
    movq %rdi, 40(%rsp)
    leaq 120(%rsp), %rdi
    movq %rdi, 48(%rsp)
    leaq 28(%rsp), %rdi
    movq %rdi, 56(%rsp)
    movq (%rsi), %r15
    movq 8(%rsi), %r9
    movq (%rbp), %r12
    movl 8(%rbp), %edi
    movq (%r13), %rbp
    movq 8(%r13), %r10
    movq 16(%r12), %rsi
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %r8
    cmpq %rsi, %fs:32(%r8)
    jne .cold
    cmpl %edi, %fs:48(%r8)
    jne .cold
    cmpq %r12, %r15
    je .2
    movq 16(%r15), %r8
    movl $2147418129, %esi
    movl $23330816, %edi
    cmpq 16(%r12), %r8
    jne .3
    movq (%r15), %r8
    cmpq (%r12), %r8
    jne .3
.2:
    cmpq %r12, %rbp
    je .4
    movq 16(%rbp), %r8
    movl $2147418129, %esi
    movl $23330816, %edi
    cmpq 16(%r12), %r8
    jne .3
    movq (%r12), %r13
    cmpq %r13, (%rbp)
    je .5
.3:
    movl %esi, 128(%rsp)
    movl %edi, 132(%rsp)
    movq %rdi, %rdx
    shlq $32, %rdx
    movl %esi, %ecx
    orq %rdx, %rcx
    shrl $16, %edi
    cmpl $599, %edi
    je .6
    shlq $48, %rdi
    movabsq $281474976710655, %rdx
    andq %rdx, %rcx
    orq %rdi, %rcx
    movl $4, (%rax)
    movq %rcx, 4(%rax)
    jmp .7
.4:
    movq (%r12), %r13
.5:
    movq %rax, 8(%rsp)
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r13), %rsi
    movl 8(%rsi), %esi
    cmpl %esi, %eax
    ja .cold
    subq $8, %rsp
    leaq 40(%rsp), %rax
    movq %r9, %rdi
    movq 88(%rsp), %rsi
    movl %ebx, %r8d
    movl %r14d, %r9d
    pushq $0
    pushq %rax
    pushq %r10
    pushq 120(%rsp)
    pushq 136(%rsp)
    callq *cuLaunchKernel(%r13)
    addq $48, %rsp
    testl %eax, %eax
    jne .cold
    movq 8(%rsp), %rax
.6:
    movl $5, (%rax)
.7:
    addq $136, %rsp
    popq %rbx
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbp
    retq
.8:
    xorl %edi, %edi
    testb %dil, %dil
    jne .1
    # else to .cold

push_and_pop:
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbx
    subq $32, %rsp
    movq (%rdi), %rax
    movq (%rsi), %r12
    cmpq (%rax), %r12
    je .1
    movabsq $10696051262423057, %rax
    jmp .3
.1:
    movq %rsi, %r15
    movl 8(%rdi), %r14d
    movq 16(%rax), %rbx
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %r13
    cmpq %rbx, %fs:32(%r13)
    jne .cold
    cmpl %r14d, %fs:48(%r13)
    jne .cold
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r12), %rcx
    movl 8(%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    movq 16(%r15), %rdi
    callq *cuCtxPushCurrent_v2(%r12)
    testl %eax, %eax
    jne .cold
    testl %r14d, %r14d
    jne .2
    movq %r12, %fs:40(%r13)
.2:
    leal 1(%r14), %eax
    movl %eax, %fs:48(%r13)
    movq 16(%r15), %r12
    movq %r12, %fs:32(%r13)
    movq %r15, 8(%rsp)
    movq %rax, 16(%rsp)
    movq %rbx, 24(%rsp)
    xorl %esi, %esi
    cmpl %eax, %fs:48(%r13)
    jne .cold
    cmpl %r14d, %fs:8(%r13)
    ja .cold
    movq (%r15), %rax
    movl cuprum_sys::fork::GENERATION(%rip), %ecx
    movq table_end+0(%rax), %rdx
    movl 8(%rdx), %edi
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
    movl %r14d, %fs:48(%r13)
    movq %rbx, %fs:32(%r13)
    movabsq $168603511049682944, %rax
    jmp .3
.3:
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
    movq (%rdi), %r14
    movq 8(%rdi), %rdi
    movq (%rsi), %rbx
    movl 8(%rsi), %eax
    movq (%rdx), %r15
    movq 8(%rdx), %rsi
    movq 16(%rbx), %rcx
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %rdx
    cmpq %rcx, %fs:32(%rdx)
    jne .cold
    cmpl %eax, %fs:48(%rdx)
    jne .cold
    cmpq %rbx, %r14
    je .1
    movq 16(%r14), %rcx
    movl $2147418129, %eax
    movl $21299200, %edx
    cmpq 16(%rbx), %rcx
    jne .2
    movq (%r14), %rcx
    cmpq (%rbx), %rcx
    jne .2
.1:
    cmpq %rbx, %r15
    je .3
    movq 16(%r15), %rcx
    movl $2147418129, %eax
    movl $21299200, %edx
    cmpq 16(%rbx), %rcx
    jne .2
    movq (%rbx), %r14
    cmpq %r14, (%r15)
    je .4
.2:
    movl %eax, 8(%rsp)
    movl %edx, 12(%rsp)
    movq %rdx, %rcx
    shlq $32, %rcx
    movl %eax, %eax
    orq %rcx, %rax
    shrl $16, %edx
    jmp .5
.3:
    movq (%rbx), %r14
.4:
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl 8(%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    callq *cuEventRecord(%r14)
    testl %eax, %eax
    jne .cold
    movl $599, %edx
.5:
    shlq $48, %rdx
    movabsq $281474976710655, %rcx
    andq %rax, %rcx
    orq %rdx, %rcx
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
    movq 16(%rbx), %rsi
    movq cuprum::context::stack::THREAD@GOTTPOFF(%rip), %rcx
    cmpq %rsi, %fs:32(%rcx)
    jne .cold
    cmpl %eax, %fs:48(%rcx)
    jne .cold
    cmpq %r15, %rbx
    je .2
    movq 16(%rbx), %rcx
    movl $2147418129, %eax
    movl $19726336, %edx
    cmpq 16(%r15), %rcx
    jne .1
    movq (%rbx), %r14
    cmpq (%r15), %r14
    je .3
.1:
    movl %eax, 8(%rsp)
    movl %edx, 12(%rsp)
    movq %rdx, %rcx
    shlq $32, %rcx
    movl %eax, %eax
    orq %rcx, %rax
    shrl $16, %edx
    jmp .4
.2:
    movq (%rbx), %r14
.3:
    movl cuprum_sys::fork::GENERATION(%rip), %eax
    movq table_end+0(%r14), %rcx
    movl 8(%rcx), %ecx
    cmpl %ecx, %eax
    ja .cold
    callq *cuStreamSynchronize(%r14)
    testl %eax, %eax
    jne .cold
    movl $599, %edx
.4:
    shlq $48, %rdx
    movabsq $281474976710655, %rcx
    andq %rax, %rcx
    orq %rdx, %rcx
    movq %rcx, %rax
    addq $16, %rsp
    popq %rbx
    popq %r14
    popq %r15
    retq
