/* Vectors of judges in C. */
#include <math.h>

typedef struct {
    double x, y, z;
} vec;

static inline vec at(const double *x) { return (vec){x[0], x[1], x[2]}; }
static inline vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec mul(double s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
