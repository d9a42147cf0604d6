/* arithmetic.h: what PTX computes and C has no operator for. Needs shadow.h before it. */
#define BITS(t, c, u) \
    static inline c bits_##t(u x) \
    { \
        c f; \
        memcpy(&f, &x, sizeof f); \
        return f; \
    } \
    static inline u bits_of_##t(c f) \
    { \
        u x; \
        memcpy(&x, &f, sizeof x); \
        return x; \
    }
BITS(f32, float, uint32_t)
BITS(f64, double, uint64_t)

/* A NaN loses; -0 is less than +0. */
#define LEAST_AND_MOST(t, c) \
    static inline c min_##t(c a, c b) { return a != a ? b : b != b ? a : a < b ? a : b < a ? b : signbit(a) ? a : b; } \
    static inline c max_##t(c a, c b) { return a != a ? b : b != b ? a : a > b ? a : b > a ? b : signbit(a) ? b : a; }
LEAST_AND_MOST(f32, float)
LEAST_AND_MOST(f64, double)

/* Towards zero, to the nearest that the type holds. Of a NaN: zero, but with a type of 64 bits on either side the
 * number whose highest bit alone is set. */
#define WHOLE(to, c, of, f, low, high, nan) \
    static inline c rzi_##to##_##of(f x) \
    { \
        return x != x ? (c)(nan) : x <= (f)(low) ? (c)(low) : x >= (f)(high) ? (c)(high) : (c)x; \
    }
#define WHOLES(of, f, nan32) \
    WHOLE(s32, int32_t, of, f, INT32_MIN, INT32_MAX, (nan32) ? INT32_MIN : 0) \
    WHOLE(u32, uint32_t, of, f, 0, UINT32_MAX, (nan32) ? 0x80000000u : 0) \
    WHOLE(s64, int64_t, of, f, INT64_MIN, INT64_MAX, INT64_MIN) \
    WHOLE(u64, uint64_t, of, f, 0, UINT64_MAX, 0x8000000000000000u)
WHOLES(f32, float, 0)
WHOLES(f64, double, 1)

#define DIVIDE(a, sign, b, site) ((b) == 0 ? (fail(DIVISOR, w, site, 0, -1, 0), (a)) : (a)sign(b))

static inline uint32_t bfi_b32(uint32_t a, uint32_t b, uint32_t at, uint32_t n)
{
    uint32_t mask;
    at &= 255;
    n &= 255;
    if (at > 31 || n == 0) return b;
    mask = (n > 31 ? ~0u : (1u << n) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}

/* the same of 64 bits */
static inline uint64_t bfi_b64(uint64_t a, uint64_t b, uint32_t at, uint32_t n)
{
    uint64_t mask;
    at &= 255;
    n &= 255;
    if (at > 63 || n == 0) return b;
    if (n > 64 - at) n = 64 - at;
    mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}
static inline uint32_t bfe_u32(uint32_t a, uint32_t at, uint32_t n)
{
    at &= 255;
    n &= 255;
    return at > 31 ? 0 : a >> at & (n > 31 ? ~0u : (1u << n) - 1);
}

/* Groups run one after the other, so an atomic is a plain operation. */
#define ATOMIC(op, t, c, value) \
    static inline c atomic_##op##_##t(uint64_t at, c b) \
    { \
        c ANY *p = (c ANY *)at; \
        c a = *p; \
        *p = (value); \
        return a; \
    }
ATOMIC(add, u32, uint32_t, a + b)
ATOMIC(max, s32, int32_t, a > b ? a : b)
ATOMIC(max, u32, uint32_t, a > b ? a : b)
ATOMIC(min, s32, int32_t, a < b ? a : b)
ATOMIC(min, u32, uint32_t, a < b ? a : b)
ATOMIC(or, b32, uint32_t, a | b)
