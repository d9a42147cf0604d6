/* s07_spheres: pairs of spheres, that is, of two meshes of one vertex and a rounding radius, to their hits.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/solve/gc_ball_path.h
 *
 * in:  motions of both bodies of pairs at a distance
 * out: hits of kind VV; GC_PAIR_OVERLAP in the state of a pair that is nearer at the start
 * One work-item per pair. Nothing is proposed for these pairs: no pieces, no candidates. Other pairs are passed over.
 * Source: docs/decisions/0143. Degenerate: a distance that stays that of contact is a sustained contact (s07_lasting).
 */

/* Does f stay within the tolerance of 0 for the whole step? */
GC_FN int s07_keeps_touch(const gc_ball_path *c)
{
    int n = 12 + (int)(GC_R(4.0) * (c->angle_a + c->angle_b)), i;
    for (i = 0; i < n; ++i) {
        gc_real x = GC_R(1.0) - (GC_R(2.0) * (gc_real)i + GC_R(1.0)) / (gc_real)n;
        if (!(GC_ABS(gc_ball_at(c, GC_R(0.25) * x * (GC_R(3.0) - x * x)).f) <= c->tol)) return 0;
    }
    return 1;
}

/* Where spheres that stay in touch stop parting, or begin, between a time in which they do not part and one in which they do. */
GC_FN gc_real s07_parts(const gc_ball_path *c, gc_real in, gc_real out)
{
    int i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real mid = GC_R(0.5) * (in + out);
        if (mid == in || mid == out) break;
        if (gc_ball_at(c, mid).df <= c->facing) in = mid;
        else out = mid;
    }
    return in;
}

GC_FN void s07_tell(const gc_hits *o, int pair, gc_real tau, gc_real s, gc_real end)
{
    int lasts = end - s > GC_MIN(GC_R(2.0) * tau, GC_R(0.5));
    s = gc_clamp_time(s);
    if (GC_R(1.0) < o->min_properness) return;
    gc_hit_append(o, pair, GC_VV | (lasts ? GC_HIT_SUSTAINED : 0), 0, 0, s, lasts ? end : s, GC_R(1.0));
}

/* the intervals in which spheres that stay in touch do not part, by less than is touch */
GC_LARGE void s07_lasting(const gc_ball_path *c, const gc_hits *o, int pair, gc_real tau)
{
    int n = GC_MAX_PIECES + 4 * (int)(c->angle_a + c->angle_b), i, was = 0;
    gc_real begun = GC_R(0.0), before = GC_R(-0.5);
    for (i = 0; i <= n; ++i) {
        gc_real s = (gc_real)i / (gc_real)n - GC_R(0.5);
        int in = gc_ball_at(c, s).df <= c->facing;
        if (in && !was) begun = i ? s07_parts(c, s, before) : s;
        if (!in && was) s07_tell(o, pair, tau, begun, s07_parts(c, before, s));
        was = in;
        before = s;
    }
    if (was) s07_tell(o, pair, tau, begun, GC_R(0.5));
}

/* All hits of a pair, or its first, from the start of the step on, where f is v; returns 0 if the cap was hit. */
GC_LARGE int s07_falls(const gc_ball_path *c, const gc_hits *o, int pair, gc_real tau, gc_ball_value v, int first_only)
{
    gc_real s = GC_R(-0.5), end = GC_R(0.5), root, sixth = c->third * GC_R(0.166666666666666667);
    gc_real peak = v.f;
    int above = v.f > c->tol, told = 0, visits;
    /* times are looked for as far beyond the step as they are in doubt */
    if (v.df < GC_R(0.0) && v.f <= c->tol && (v.f >= -c->tol || v.f - v.df * tau > GC_R(0.0))) told = 1;
    if (GC_ABS(v.f) <= c->tol && v.df <= c->facing) told = 1;
    if (told) s07_tell(o, pair, tau, s, GC_R(-1.0));
    if (told && first_only) return 1;
    for (visits = 0; visits < GC_MAX_VISITS; ++visits) {
        gc_real room = end - s, step;
        if (above) {
            int arrives;
            step = gc_ball_step(c, v, GC_R(1.0), c->tol, room);
            s += step;
            v = gc_ball_at(c, s);
            if (v.f > GC_R(2.0) * c->tol && step < room) continue;
            if (v.f > GC_R(2.0) * c->tol) { /* a root a little later is one at the end */
                if (v.f + v.df * tau <= GC_R(0.0)) s07_tell(o, pair, tau, end, GC_R(-1.0));
                return 1;
            }
            arrives = gc_ball_arrives(c, &s, &v, &root);
            told = arrives != GC_BALL_PASSES;
            if (told && root <= end + tau) {
                s07_tell(o, pair, tau, root, GC_R(-1.0));
                if (first_only) return 1;
            }
            above = 0;
            peak = v.f;
        } else if (v.f > GC_R(2.0) * c->tol) {
            above = 1;
            continue;
        } else if (v.f < -c->tol) {
            step = gc_ball_step(c, v, GC_R(-1.0), GC_R(0.5) * c->tol, room);
            s += step;
            v = gc_ball_at(c, s);
            told = 0;
            peak = v.f;
        } else {
            /* by what keeps f within the tolerance of where it is */
            gc_real from = s, w = room;
            if (GC_ABS(v.df) * w > c->tol) w = c->tol / GC_ABS(v.df);
            if (GC_ABS(v.ddf) * w * w > c->tol) w = GC_SQRT(c->tol / GC_ABS(v.ddf));
            while (sixth * w * w * w > c->tol) w *= GC_R(0.5);
            s += GC_MAX(w, GC_R(1e-12));
            if (s > end) s = end;
            v = gc_ball_at(c, s);
            peak = GC_MAX(peak, v.f);
            if (v.f < -c->tol && peak > GC_R(0.0) && !told) { /* it never went farther up than that */
                s07_tell(o, pair, tau, from, GC_R(-1.0));
                if (first_only) return 1;
            }
        }
        if (!(s < end)) return 1;
    }
    return 0;
}

GC_KERNEL void s07_spheres(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,     /* (n_pairs, 2) its bodies */
    GC_GLOBAL const int *shape_in,     /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_real *screw_in, /* (n_pairs, GC_SCREW_STRIDE) GC_BODIES of these pairs */
    GC_GLOBAL const int *headers_in,   /* (meshes, GC_MESH_STRIDE) */
    int first_only,
    int check_start,
    gc_real min_properness,
    GC_HITS_ARGS)
{
    gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = shape_in[pairs_in[2 * i]], b = shape_in[pairs_in[2 * i + 1]];
        gc_bodies m;
        gc_ball_path c;
        gc_ball_value v;
        if (!gc_is_ball(headers_in, a) || !gc_is_ball(headers_in, b) || (state_out[i] & ~GC_PAIR_OVERLAP)) continue;
        gc_bodies_load(screw_in + GC_SCREW_STRIDE * i, &m);
        if (!(m.pieces > GC_R(0.0) && m.distance > GC_R(0.0))) continue;
        c = gc_ball_path_of(&m);
        v = gc_ball_at(&c, GC_R(-0.5));
        /* less than that is what is taken for the distance itself */
        if (check_start && v.f < -GC_TOL_TOUCH * m.size * GC_R(2.0) * m.distance)
            GC_ATOMIC_MAX(state_out + i, GC_PAIR_OVERLAP);
        if (GC_ABS(v.f) <= c.tol && s07_keeps_touch(&c)) s07_lasting(&c, &o, i, m.tau);
        else if (!s07_falls(&c, &o, i, m.tau, v, first_only)) GC_ATOMIC_MAX(state_out + i, GC_PAIR_UNRESOLVED);
    }
}
