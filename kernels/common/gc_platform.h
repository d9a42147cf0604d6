/* gc_platform.h: the only file that knows which compiler is running.
 * needs: nothing
 *
 * The kernels are one text in the common subset of C99, OpenCL C 1.2 and CUDA C++. What differs between the three
 * stands here, behind the macros below; kernels/README.md has the table. The host passes GC_PRECISION:
 *   0 mixed    gc_raster float, gc_real double   culling is padded by its own rounding, so it may be float32
 *   1 double   both double
 *   2 single   both float; the type double then appears nowhere, for devices that have none
 *
 * Loops. A kernel never assumes how many groups or work-items run it:
 *   for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n))      one work-item per i
 *   for (int g = GC_GROUP_LO(n); g < GC_GROUP_HI(n); g += GC_GROUP_STEP(n))   one group per g
 *   for (int k = GC_LOCAL_ID; k < m; k += GC_GROUP_SIZE)                      the items of a group share k
 * On a GPU neighbouring items take neighbouring i (grid stride). In plain C a group is one call on one thread with
 * one work-item, and takes a contiguous block, so that the loop vectorises and caches are not shared. n <= 2^30, so
 * that the last step does not overflow.
 */
#ifndef GC_PLATFORM_H
#define GC_PLATFORM_H

#ifndef GC_PRECISION
#error "define GC_PRECISION: 0 mixed, 1 double, 2 single"
#endif
/* 1 in programs that solve for contacts at a distance, where each body has a motion of its own (backends/sources.py) */
#ifndef GC_AT_DISTANCE
#define GC_AT_DISTANCE 0
#endif
#if GC_AT_DISTANCE
#define GC_BODY_MOTION 1
#endif
/* 1 in programs that solve for bodies each of which has a motion of its own (backends/sources.py) */
#ifndef GC_BODY_MOTION
#define GC_BODY_MOTION 0
#endif
#if GC_BODY_MOTION
#define GC_OF_BODIES(text) text
#else
#define GC_OF_BODIES(text)
#endif
#if GC_AT_DISTANCE
#define GC_OF_DISTANCE(text) text
#else
#define GC_OF_DISTANCE(text)
#endif
#ifdef __FAST_MATH__
#error "the kernels need exact IEEE arithmetic: build them without fast-math"
#endif

/* ---- CUDA (NVRTC or nvcc, --fmad=false) ------------------------------------------------------------------- */
#if defined(__CUDACC__)

/* 256 work-items is the largest group the host asks for; saying so keeps the compiler within the register file. */
#define GC_KERNEL extern "C" __global__ __launch_bounds__(256)
/* ... and three such groups side by side: 80 registers */
#define GC_CROWDED_KERNEL extern "C" __global__ __launch_bounds__(256, 3)
#define GC_GLOBAL
#define GC_CONSTANT __device__ __constant__ const
#define GC_FN static __device__ __forceinline__
#define GC_RESTRICT __restrict__
#define GC_GROUP_ID ((int)blockIdx.x)
#define GC_SCRATCH_ID GC_GROUP_ID
#define GC_NUM_GROUPS ((int)gridDim.x)
#define GC_LOCAL_ID ((int)threadIdx.x)
#define GC_GROUP_SIZE ((int)blockDim.x)
#define GC_BARRIER() __syncthreads()
#define GC_ATOMIC_ADD(p, v) atomicAdd((p), (v))
#define GC_ATOMIC_MAX(p, v) atomicMax((p), (v))
#define GC_GROUP_ADD(p, v) atomicAdd((p), (v))
#define GC_GROUP_OR(p, v) atomicOr((p), (v))
#define GC_BIT_COUNT(x) __popc(x)
#define GC_LEADING_ZEROS(x) __clz((int)(x))
#define GC_ALIGNED __align__(16)
typedef long long gc_long;
typedef unsigned long long gc_ulong;
#define GC_FLOAT_FN(name) name##f
#define GC_SQRT_FLOAT(x) __fsqrt_rn(x)
#define GC_SQRT_DOUBLE(x) __dsqrt_rn(x)

/* ---- OpenCL C 1.2 ----------------------------------------------------------------------------------------- */
#elif defined(__OPENCL_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#if GC_PRECISION != 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define GC_KERNEL __kernel
#define GC_GLOBAL __global
#define GC_CONSTANT __constant
#define GC_FN static inline
#define GC_RESTRICT restrict
#define GC_GROUP_ID ((int)get_group_id(0))
#define GC_SCRATCH_ID GC_GROUP_ID
#define GC_NUM_GROUPS ((int)get_num_groups(0))
#ifdef GC_SERIAL_GROUPS
/* one work-item per group, promised by the host for CPU devices: loops as in plain C, no barriers to compile */
#define GC_LOCAL_ID 0
#define GC_GROUP_SIZE 1
#define GC_BARRIER() ((void)0)
#define GC_GROUP_ADD(p, v) gc_group_add_((p), (v))
#define GC_GROUP_OR(p, v) gc_group_or_((p), (v))
GC_FN int gc_group_add_(__global int *p, int v)
{
    int old = *p;
    *p = old + v;
    return old;
}
GC_FN int gc_group_or_(__global int *p, int v)
{
    int old = *p;
    *p = old | v;
    return old;
}
#else
#define GC_LOCAL_ID ((int)get_local_id(0))
#define GC_GROUP_SIZE ((int)get_local_size(0))
#define GC_BARRIER() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#define GC_GROUP_ADD(p, v) atomic_add((p), (v))
#define GC_GROUP_OR(p, v) atomic_or((p), (v))
#endif
#define GC_ATOMIC_ADD(p, v) atomic_add((p), (v))
#define GC_ATOMIC_MAX(p, v) atomic_max((p), (v))
#define GC_BIT_COUNT(x) ((int)popcount(x))
#define GC_LEADING_ZEROS(x) ((int)clz(x))
#define GC_ALIGNED __attribute__((aligned(16)))
typedef long gc_long;
typedef ulong gc_ulong;
#define GC_FLOAT_FN(name) name
/* float sqrt and division are correctly rounded because the host builds with
 * -cl-fp32-correctly-rounded-divide-sqrt wherever the device has it; the double ones are by the standard. */
#define GC_SQRT_FLOAT(x) sqrt(x)
#define GC_SQRT_DOUBLE(x) sqrt(x)

/* ---- C99/C11 (gcc or clang, -ffp-contract=off) ------------------------------------------------------------ */
#elif (defined(__GNUC__) || defined(__clang__)) && !defined(__cplusplus)

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
/* noinline: the drivers that run the groups call the kernels; one body of each is enough. */
#define GC_KERNEL __attribute__((visibility("default"), noinline))
#define GC_GLOBAL
#define GC_CONSTANT static const
#define GC_FN static inline
#define GC_RESTRICT restrict
/* Which group this thread plays. The address is never taken, so that stores through pointers cannot alias it and
 * loop bounds made from it stay loop invariant. */
static _Thread_local int gc_group_id_ = 0;
static _Thread_local int gc_num_groups_ = 1;
/* A group is played in shares, one after the other on its scratch, so that a thread can stop between two: share k of
 * group g has the part of the group's loop that group g * shares + k of so many times more groups would have. */
static _Thread_local int gc_share_id_ = 0;
static _Thread_local int gc_num_shares_ = 1;
/* Which of a launch's threads this is: they have scratch each, one group of theirs after the other. With scratch for each group, memory was fresh for nearly
 * every pair, and to make a page of it took as long as to fill it. */
static _Thread_local int gc_seat_id_ = 0;
GC_KERNEL void gc_set_group(int group, int n_groups, int share, int n_shares, int seat);
GC_KERNEL void gc_set_group(int group, int n_groups, int share, int n_shares, int seat)
{
    gc_seat_id_ = seat;
    gc_group_id_ = group;
    gc_num_groups_ = n_groups;
    gc_share_id_ = group * n_shares + share;
    gc_num_shares_ = n_groups * n_shares;
}
#define GC_GROUP_ID gc_group_id_
#define GC_SCRATCH_ID gc_seat_id_
#define GC_NUM_GROUPS gc_num_groups_
#define GC_LOCAL_ID 0
#define GC_GROUP_SIZE 1
#define GC_BARRIER() ((void)0)
#define GC_ATOMIC_ADD(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
GC_FN int gc_atomic_max_(volatile int *p, int v)
{
    int old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (old < v && !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
#define GC_ATOMIC_MAX(p, v) gc_atomic_max_((p), (v))
/* a counter that only this group touches needs no atomic: a group is one work-item here */
GC_FN int gc_group_add_(int *p, int v)
{
    int old = *p;
    *p = old + v;
    return old;
}
GC_FN int gc_group_or_(int *p, int v)
{
    int old = *p;
    *p = old | v;
    return old;
}
#define GC_GROUP_ADD(p, v) gc_group_add_((p), (v))
#define GC_GROUP_OR(p, v) gc_group_or_((p), (v))
#define GC_BIT_COUNT(x) __builtin_popcount(x)
#define GC_LEADING_ZEROS(x) __builtin_clz(x)
#define GC_ALIGNED
#define GC_FETCH(p) __builtin_prefetch(p)
#define GC_SERIAL_GROUPS 1
typedef long long gc_long;
typedef unsigned long long gc_ulong;
#define GC_FLOAT_FN(name) __builtin_##name##f
#define GC_DOUBLE_FN(name) __builtin_##name
#define GC_SQRT_FLOAT(x) __builtin_sqrtf(x)
#define GC_SQRT_DOUBLE(x) __builtin_sqrt(x)

#else
#error "gc_platform.h knows CUDA C++, OpenCL C and C by gcc or clang; this compiler is none of them"
#endif

/* A kernel of which many groups are to be resident: the compiler is told how many, since by itself it takes 80 registers or 120 for the same
 * work, whichever way a line is written. */
#ifndef GC_CROWDED_KERNEL
#define GC_CROWDED_KERNEL GC_KERNEL
#endif

/* will soon be read: worth saying where one thread works off items that lie apart */
#ifndef GC_FETCH
#define GC_FETCH(p) ((void)0)
#endif

#ifndef GC_DOUBLE_FN
#define GC_DOUBLE_FN(name) name
#endif

/* A large function with several callers. On a GPU it stays one function: inlined everywhere, NVRTC took 18 s for
 * the kernels instead of 3. */
#if defined(__CUDACC__)
#define GC_LARGE static __device__ __noinline__
#else
#define GC_LARGE GC_FN
#endif

/* A function for a case that is rare where it is looked for often: not inlined by the C compiler either, whose registers and code around
 * the call are for the many. */
#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#define GC_RARE static __attribute__((noinline, cold, unused))
#else
#define GC_RARE GC_LARGE
#endif

/* a function called from loops that have to vectorise: one call left in them stops that */
#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#define GC_INLINE GC_FN __attribute__((always_inline))
#else
#define GC_INLINE GC_FN
#endif

/* A record that is only read, as a field of a struct. CUDA has one kind of pointer: a work-item reads it where it lies, and keeps no copy of
 * it on its stack. Elsewhere it is a copy, which a C compiler may hold in registers. GC_SEEN_LOAD fills it by a function that loads such a
 * record, GC_SEEN_AT points to it. */
#if defined(__CUDACC__) && !GC_BODY_MOTION
#define GC_SEEN(type, name) const type *name
#define GC_SEEN_LOAD(type, load, from, field) ((field) = (const type *)(from))
#define GC_SEEN_AT(field) (field)
#else
#define GC_SEEN(type, name) type name
#define GC_SEEN_LOAD(type, load, from, field) load((from), &(field))
#define GC_SEEN_AT(field) (&(field))
#endif

/* Before a loop of which a work-item has few iterations: a GPU's compiler is not to unroll it. It would begin with a division then, of
 * what there is by the work-items of a group. */
#if defined(__CUDACC__)
#define GC_ROLLED _Pragma("unroll 1")
#else
#define GC_ROLLED
#endif

/* Before a loop whose iterations touch different elements: spares the C compiler a run-time test for overlap, for which
 * it gives up on loops with many arrays. Says nothing about order, so no bits change. */
#if defined(__clang__) && !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#define GC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#define GC_INDEPENDENT _Pragma("GCC ivdep")
#elif defined(__CUDACC__)
#define GC_INDEPENDENT GC_ROLLED
#else
#define GC_INDEPENDENT
#endif

/* ---- types and arithmetic by precision -------------------------------------------------------------------- */
typedef int gc_int;
typedef unsigned int gc_uint;
typedef unsigned char gc_uchar;
/* 64 bits of two halves: literals of that length differ between the three */
#define GC_ULONG(high, low) (((gc_ulong)(gc_uint)(high) << 32) | (gc_ulong)(gc_uint)(low))

/* GC_R(0.5) and GC_F(0.5) write a literal in the type of gc_real and gc_raster. The argument is a literal with a
 * point or an exponent, never a macro (the suffix is pasted on). */
#if GC_PRECISION == 2
typedef float gc_real;
#define GC_R(literal) literal##f
#define GC_SQRT(x) GC_SQRT_FLOAT(x)
#define GC_REAL_FN(name) GC_FLOAT_FN(name)
#else
typedef double gc_real;
#define GC_R(literal) literal
#define GC_SQRT(x) GC_SQRT_DOUBLE(x)
#define GC_REAL_FN(name) GC_DOUBLE_FN(name)
#endif

#if GC_PRECISION == 1
typedef double gc_raster;
#define GC_F(literal) literal
#define GC_SQRT_R(x) GC_SQRT_DOUBLE(x)
#define GC_RASTER_FN(name) GC_DOUBLE_FN(name)
#else
typedef float gc_raster;
#define GC_F(literal) literal##f
#define GC_SQRT_R(x) GC_SQRT_FLOAT(x)
#define GC_RASTER_FN(name) GC_FLOAT_FN(name)
#endif

/* Each takes gc_real; the forms with _R take gc_raster. All are exact, or correctly rounded (sqrt), on all targets.
 * GC_RINT rounds halves to even. */
#define GC_ABS(x) GC_REAL_FN(fabs)(x)
#define GC_FLOOR(x) GC_REAL_FN(floor)(x)
#define GC_RINT(x) GC_REAL_FN(rint)(x)
#define GC_ABS_R(x) GC_RASTER_FN(fabs)(x)
#define GC_FLOOR_R(x) GC_RASTER_FN(floor)(x)
#define GC_RINT_R(x) GC_RASTER_FN(rint)(x)

/* Any type; the arguments are evaluated twice. If a comparison with NaN decides, the result is b. */
#define GC_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GC_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Whether a group is one work-item: a number that the compiler knows. What pays only among many (a list that all work off,
 * parts that are put together) stands behind it, and what pays only alone (loops that vectorise). */
#ifdef GC_SERIAL_GROUPS
#define GC_SERIAL 1
#else
#define GC_SERIAL 0
#endif

/* A variable of a kernel that the work-items of a group have in common: on CUDA one, in shared memory, elsewhere one each.
 * They fill it with a loop from GC_FILL_LO in steps of GC_FILL_STEP, or where GC_FILLS, and read it behind a barrier. */
#if defined(__CUDACC__)
#define GC_SHARED __shared__
#define GC_FILL_LO GC_LOCAL_ID
#define GC_FILL_STEP GC_GROUP_SIZE
#else
#define GC_SHARED
#define GC_FILL_LO 0
#define GC_FILL_STEP 1
#endif
#define GC_FILLS (GC_FILL_LO == 0)

/* A variable at the head of a kernel that the work-items of a group hand things on in, and count in by GC_LOCAL_ADD: on a GPU one, in its
 * memory for that. No pointer to it goes to a function. */
#if defined(__CUDACC__)
#define GC_LOCAL __shared__
#define GC_LOCAL_ADD(p, v) atomicAdd((p), (v))
#elif defined(__OPENCL_VERSION__) && !defined(GC_SERIAL_GROUPS)
#define GC_LOCAL __local
#define GC_LOCAL_ADD(p, v) atomic_add((p), (v))
#else
#define GC_LOCAL
#define GC_LOCAL_ADD(p, v) gc_local_add_((p), (v))
GC_FN int gc_local_add_(int *p, int v)
{
    int old = *p;
    *p = old + v;
    return old;
}
#endif

/* Work on both bodies of a pair: every other work-item of a group takes the second one,
 *   for (int side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
 *       for (int k = GC_SIDE_ID; k < m[side]; k += GC_SIDE_SIZE)
 * so that lanes have work where a body has few features. Alone, a work-item takes one after the other. */
#define GC_SIDE_STEP (GC_GROUP_SIZE > 1 ? 2 : 1)
#define GC_SIDE_LO (GC_GROUP_SIZE > 1 ? (GC_LOCAL_ID & 1) : 0)
#define GC_SIDE_ID (GC_GROUP_SIZE > 1 ? (GC_LOCAL_ID >> 1) : 0)
#define GC_SIDE_SIZE (GC_GROUP_SIZE > 1 ? ((GC_GROUP_SIZE - GC_SIDE_LO + 1) >> 1) : 1)

/* ---- shares of a loop ------------------------------------------------------------------------------------- */
#ifndef GC_SERIAL_GROUPS
#define GC_ITEM_LO(n) (GC_GROUP_ID * GC_GROUP_SIZE + GC_LOCAL_ID)
#define GC_ITEM_HI(n) (n)
#define GC_ITEM_STEP(n) (GC_NUM_GROUPS * GC_GROUP_SIZE)
#define GC_GROUP_LO(n) (GC_GROUP_ID)
#define GC_GROUP_HI(n) (n)
#define GC_GROUP_STEP(n) (GC_NUM_GROUPS)
#else
#ifdef __OPENCL_VERSION__
#define gc_share_id_ GC_GROUP_ID
#define gc_num_shares_ GC_NUM_GROUPS
#endif
#define GC_ITEM_LO(n) ((int)((gc_long)(n) * gc_share_id_ / gc_num_shares_))
#define GC_ITEM_HI(n) ((int)((gc_long)(n) * (gc_share_id_ + 1) / gc_num_shares_))
#define GC_ITEM_STEP(n) 1
#define GC_GROUP_LO(n) GC_ITEM_LO(n)
#define GC_GROUP_HI(n) GC_ITEM_HI(n)
#define GC_GROUP_STEP(n) 1
#endif

#endif
