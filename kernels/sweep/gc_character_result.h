/* gc_character_result.h: the result of a character's step.
 * needs: common/gc_types.h
 */
#ifndef GC_CHARACTER_RESULT_H
#define GC_CHARACTER_RESULT_H

/* what became of a character: ints */
#define GC_CHARACTER_RESULT_STRIDE 3
#define GC_CHARACTER_RESULT_COLUMNS(ONE, MANY, X) \
    ONE(X, status) \
    ONE(X, ground) /* body that it stands on, or -1 */ \
    ONE(X, casts)
GC_RECORD(GC_CHARACTER_RESULT)

/* reals of it */
#define GC_CHARACTER_RESULT_REAL_STRIDE 12
#define GC_CHARACTER_RESULT_REAL_COLUMNS(ONE, MANY, X) \
    MANY(X, position, 3) \
    MANY(X, velocity, 3)      /* what is left of it */ \
    MANY(X, fall_velocity, 3) /* the same */ \
    MANY(X, ground_normal, 3)
GC_RECORD(GC_CHARACTER_RESULT_REAL)

#endif
