/* s08_contacts: hits to contacts.
 * needs: narrow_phase/contact/gc_dedup_sorted.h narrow_phase/contact/gc_pixels.h narrow_phase/contact/gc_world.h
 *
 * in:  hits of all pairs in any order
 * out: per pair: status, time of impact, and its contacts in the order (time, kind, features), coincidences resolved
 * Three launches: s08_place puts hits into the range of their pair, s08_resolve sorts them and drops duplicates (one
 * work-item per pair), s08_contacts writes the result (one work-item per pair; among many, one per hit, of which those that
 * were dropped write nothing).
 * Source: Buss, section 5 (VV, EV, VE), and docs/decisions/0016; gc_dedup.h has the rule. The result depends neither on how
 * hits were proposed, nor on whether those below a threshold were left out before.
 */

GC_KERNEL void s08_place(
    int n_hits,
    GC_GLOBAL const int *hit_in,           /* (n_hits, GC_HIT_STRIDE), a pair below 0: no hit */
    GC_GLOBAL const gc_long *hit_start_in, /* (n_pairs + 1,) */
    GC_GLOBAL int *cursor,                 /* (n_pairs,) zero before */
    GC_GLOBAL int *order_out)              /* (n_hits,) hit numbers by pair */
{
    GC_ROLLED
    for (int i = GC_ITEM_LO(n_hits); i < GC_ITEM_HI(n_hits); i += GC_ITEM_STEP(n_hits)) {
        int pair = gc_hit_load(hit_in, i).pair;
        if (pair == GC_HIT_NONE) break; /* what is none stands behind all that are some */
        if (pair < 0) continue;
        order_out[hit_start_in[pair] + GC_ATOMIC_ADD(cursor + pair, 1)] = i;
    }
}

/* Hits of the same features closer than this in time are one; with pixels also those of one coincidence. */
GC_FN gc_real gc_same_time(const gc_screw *k, int refine, gc_real row_height)
{
    gc_real exact = GC_R(2.0) * k->tau, blur = refine == GC_REFINE_PIXELS ? GC_R(2.0) * row_height : GC_R(0.0);
    return k->speed > GC_R(0.0) ? GC_MAX(exact, blur / k->speed) : exact;
}

GC_KERNEL void s08_resolve(
    int n_pairs,
    GC_PAIR_ARGS,
    GC_GLOBAL const gc_long *hit_start_in, /* (n_pairs + 1,) */
    GC_GLOBAL const int *state_in,
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) user units; read where refine is not exact */
    GC_GLOBAL const gc_real *value_in,      /* (n_hits, GC_HIT_REAL_STRIDE) */
    int refine,
    int first_only,
    GC_GLOBAL int *hit_out,         /* (n_hits, GC_HIT_STRIDE) the pair becomes -1 where a hit goes */
    GC_GLOBAL int *order_out,       /* (n_hits,) kept hits first */
    GC_GLOBAL int *kept_out,        /* (n_pairs,) */
    GC_GLOBAL gc_uchar *status_out, /* (n_pairs,) */
    GC_GLOBAL gc_real *toi_out)     /* (n_pairs,) step units; 2 stands for none */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int n = (int)(hit_start_in[i + 1] - hit_start_in[i]), kept = 0, at, state = state_in[i];
        gc_real toi = GC_R(2.0);
        if (n == 1 && refine != GC_REFINE_PIXELS) {
            /* there is nothing that it might be one with */
            kept = 1;
            toi = gc_reals_load(value_in, order_out[hit_start_in[i]]).s + GC_R(0.5);
        } else if (n > 0) {
            gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
            gc_pair p;
            gc_pair_hits h;
            GC_GLOBAL int *order = order_out + hit_start_in[i];
            gc_pair_load(pairs_in, shape_in, screw_in, &t, i, &p);
            h.hit = hit_out;
            h.value = value_in;
            h.order = order;
            h.n = n;
            h.same_time = gc_same_time(gc_screw_of(&p), refine, row_height_in[i] * gc_screw_of(&p)->shrink);
            if (gc_has_many_hits(&p, n)) gc_resolve_many(&t, &p, &h, refine);
            gc_hits_sort(&h, GC_BY_TIME);
            h.first_lasting = 0;
            while (h.first_lasting < n && !(gc_hit_at(&h, order[h.first_lasting]).kind & GC_HIT_SUSTAINED))
                ++h.first_lasting;
            /* first mark, then close the gaps: what supersedes a hit may itself be superseded */
            for (at = 0; at < h.n && !gc_has_many_hits(&p, n); ++at)
                if (gc_superseded(&t, &p, &h, at, refine)) hit_out[GC_HIT_STRIDE * order[at] + GC_HIT_pair] = -1;
            if (refine == GC_REFINE_PIXELS) gc_resolve_pixels(&t, &p, &h);
            for (at = 0; at < h.n; ++at) {
                int k = order[at];
                if (gc_hit_at(&h, k).pair < 0) continue;
                if (kept == 0) toi = gc_reals_at(&h, k).s + GC_R(0.5);
                if (first_only && gc_reals_at(&h, k).s + GC_R(0.5) != toi) break;
                order[kept++] = k;
            }
        }
        kept_out[i] = kept;
        toi_out[i] = toi;
        status_out[i] = state & GC_PAIR_INVALID      ? GC_STATUS_INVALID_INPUT
                        : state & GC_PAIR_OVERLAP    ? GC_STATUS_INITIAL_OVERLAP
                        : state & GC_PAIR_UNRESOLVED ? GC_STATUS_UNRESOLVED
                        : kept > 0                   ? GC_STATUS_HIT
                                                     : GC_STATUS_MISS;
    }
}

GC_CROWDED_KERNEL void s08_contacts(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_uchar *spins_in, /* (bodies,), (bodies, 9) as s01_bodies has them; read where GC_BODY_MOTION is 1 */
    GC_GLOBAL const gc_real *spin_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in,
    GC_GLOBAL const gc_real *planes_in,
    GC_GLOBAL const gc_real *corners_in, /* (vertices, 3) as the caller gave them */
    GC_GLOBAL const gc_long *hit_start_in,
    GC_GLOBAL const gc_long *contact_start_in, /* (n_pairs + 1,) */
    GC_GLOBAL const int *hit_in,
    GC_GLOBAL const gc_real *value_in,
    GC_GLOBAL const int *order_in,
    int first_pair,          /* added to the pair numbers written */
    GC_GLOBAL int *pair_out, /* (contacts,) */
    GC_GLOBAL gc_uchar *kind_out,
    GC_GLOBAL int *feature_a_out,
    GC_GLOBAL int *feature_b_out,
    GC_GLOBAL gc_real *time_out,
    GC_GLOBAL gc_real *position_out, /* (contacts, 3) world */
    GC_GLOBAL gc_real *normal_out,   /* (contacts, 3) world, from A to B */
    GC_GLOBAL gc_real *properness_out,
    GC_GLOBAL gc_real *local_a_out, /* (contacts, 3) mesh coordinates */
    GC_GLOBAL gc_real *local_b_out,
    GC_GLOBAL gc_real *normal_speed_out, /* user length per step */
    GC_GLOBAL gc_uchar *sustained_out,
    GC_GLOBAL gc_real *time_end_out)
{
    /* Alone a work-item takes all contacts of a pair, whose motion is then made once. Of many each takes one: pairs have few,
     * and some of them many, for which all would wait.
     * What A's own motion makes of a contact comes behind the contact, by way of what is written: each by itself has room in a third of
     * the registers that both would take (docs/decisions/0076). */
    int n = GC_SERIAL ? n_pairs : (int)(hit_start_in[n_pairs] - hit_start_in[0]);
    for (int item = GC_ITEM_LO(n); item < GC_ITEM_HI(n); item += GC_ITEM_STEP(n)) {
        GC_GLOBAL const int *order = order_in + hit_start_in[GC_SERIAL ? item : 0] + (GC_SERIAL ? 0 : item);
        int i = GC_SERIAL ? item : hit_in[GC_HIT_STRIDE * *order + GC_HIT_pair], a, b;
        gc_long begin, end, o;
        gc_tables t;
        gc_pair p;
        gc_world w;
        if (i < 0) continue; /* a hit that went */
        begin = contact_start_in[i];
        end = contact_start_in[i + 1];
        if (!GC_SERIAL) {
            begin += order - (order_in + hit_start_in[i]);
            end = GC_MIN(begin + 1, end);
        }
        if (begin >= end) continue;
        t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        a = pairs_in[2 * i];
        b = pairs_in[2 * i + 1];
        gc_pair_load_poses(pairs_in, shape_in, screw_in, &t, i, &p);
        for (o = begin; o < end; ++o, ++order) {
            gc_hit h = gc_hit_load(hit_in, *order);
            gc_hit_reals v = gc_reals_load(value_in, *order);
            int kind = h.kind & GC_HIT_KIND_MASK;
            gc_contact c = gc_contact_reported(&t, &p, kind, h.a, h.b, v.s);
            gc_vec la = gc_add(
                c.local_a, gc_load_vec(mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a] + GC_MESH_REAL_centre, 0));
            gc_vec lb = gc_add(
                c.local_b, gc_load_vec(mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[b] + GC_MESH_REAL_centre, 0));
            if (gc_at_vertex_a(&p, kind)) la = gc_load_vec(corners_in, gc_mesh_a(&p)->vertex0 + h.a);
            if (gc_at_vertex_b(&p, kind)) lb = gc_load_vec(corners_in, gc_mesh_b(&p)->vertex0 + h.b);
            gc_round_points(
                &p, &c, mesh_reals_in[GC_MESH_REAL_STRIDE * shape_in[a] + GC_MESH_REAL_rounding],
                mesh_reals_in[GC_MESH_REAL_STRIDE * shape_in[b] + GC_MESH_REAL_rounding], &la, &lb);
            pair_out[o] = i + first_pair;
            kind_out[o] = (gc_uchar)kind;
            feature_a_out[o] = h.a;
            feature_b_out[o] = h.b;
            time_out[o] = v.s + GC_R(0.5);
            time_end_out[o] = v.end + GC_R(0.5);
            properness_out[o] = v.properness;
            sustained_out[o] = (gc_uchar)(h.kind & GC_HIT_SUSTAINED ? 1 : 0);
            normal_speed_out[o] = c.speed * gc_screw_of(&p)->scale;
            gc_store_vec(local_a_out, o, la);
            gc_store_vec(local_b_out, o, lb);
            gc_store_vec(normal_out, o, gc_rotate_back(gc_screw_of(&p)->ra, c.normal));
        }
        order -= end - begin;
        {
            GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a];
            gc_world_make(
                gc_load_vec(start_position_in, a), gc_load_quat(start_quat_in, a), gc_load_vec(end_position_in, a),
                gc_load_quat(end_quat_in, a), ma[GC_MESH_REAL_radius], ma[GC_MESH_REAL_scale], &w);
        }
        for (o = begin; o < end; ++o, ++order) {
            gc_vec place = gc_load_vec(local_a_out, o), normal = gc_load_vec(normal_out, o);
            if (!gc_spun_to_world(spins_in, spin_in, a, w.p0, w.q0, time_out[o], &place, &normal)) {
                gc_turn r = gc_turn_at(w.screw.theta, value_in[GC_HIT_REAL_STRIDE * *order + GC_HIT_REAL_s]);
                place = gc_world_point(&w, r, place);
                normal = gc_world_direction(&w, r, normal);
            }
            gc_store_vec(position_out, o, place);
            gc_store_vec(normal_out, o, normal);
        }
    }
}
