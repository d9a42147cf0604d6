/* gc_constants.h: every tolerance, pad and cap of the kernels, each with its unit, its reason and the effect of a change.
 * needs: common/gc_platform.h
 *
 * Lengths are in units of the pair's size (the larger bounding radius), angles in radians, times in steps (0..1). Python
 * reads these lines (gpu_collide.backends.sources); nothing is retyped there. Two rules connect them: the culling pads are
 * wider than the solver's tolerances, so that culling cannot drop what the solver would accept, and the solver's tolerances
 * are wider than its rounding error, so that no decision is rounding noise.
 */
#ifndef GC_CONSTANTS_H
#define GC_CONSTANTS_H

#if GC_PRECISION != 2
/* inside tests are closed within this distance; smaller loses contacts on shared borders to rounding (1e-15) */
#define GC_TOL_INSIDE GC_R(1e-11)
/* what rounding leaves in doubt of a length, in units of size + speed; where a meeting is slow or edges are nearly parallel
 * its place is worth less than GC_TOL_INSIDE, and the inside tests give by as much, at most by the second */
#define GC_PLACE_ROUNDING GC_R(4e-15)
#define GC_PLACE_DOUBT GC_R(1e-9)
/* features that come this close touch: decides double roots and sliding; see docs/conventions.md */
#define GC_TOL_TOUCH GC_R(1e-11)
/* a contact equation that stays within this share of the size in a piece hardly changes there, and its third derivative is bounded anew */
#define GC_FLAT GC_R(1e-6)
/* edges with |sin| below this are parallel and make no edge-edge contact (their ends make vertex contacts) */
#define GC_TOL_PARALLEL GC_R(1e-9)
/* ... and below this too nearly so for the place of their crossing to be told from that a little later */
#define GC_NEARLY_PARALLEL GC_R(1e-6)
/* the two signs of an edge-edge normal are tied if their properness differs by less: then the approach decides */
#define GC_TOL_TIE GC_R(1e-9)
/* what rounding makes of the equations of two bodies that move each by itself, in units of GC_CURVE_ROUNDING times size + way (30
 * roundings of 2.2e-16 seen at most, docs/decisions/0108) */
#define GC_BODY_ROUNDING GC_R(3.6)
/* two motions are one screw if B's points stay this near to it, in units of size + way */
#define GC_ONE_SCREW GC_R(1.5e-14)
/* properness is given in steps of one over this (2^40): rounding then leaves ties what they are, so that kernels and
 * reference name the same winner of a coincidence, and a threshold of 0 keeps what is 0 */
#define GC_PROPERNESS_STEPS GC_R(1099511627776.0)
/* facing is decided within this share of the pair's speed */
#define GC_TOL_FACING GC_R(1e-9)
/* at a distance: a direction is in a closed cone if no number that says so is below 0 by more (rounding: 1e-15) */
#define GC_TOL_CONE GC_R(1e-9)
/* roots are looked for this far outside [0, 1], then clamped: constant part, and part times size/speed */
#define GC_TAU_TIME GC_R(1e-9)
#define GC_TAU_LENGTH GC_R(1e-10)
/* share of the sum of a curve's coefficients taken as its rounding error */
#define GC_CURVE_ROUNDING GC_R(2e-15)
/* a rotation whose half-angle sine is below this is a translation (rounding of unit quaternions: 2e-16) */
#define GC_MIN_HALF_SINE GC_R(1e-15)
/* cosine of the half angle below which a turn counts as a half-turn, whose axis sign is fixed by convention */
#define GC_HALF_TURN GC_R(1e-15)
/* the same of a turn that a body makes by itself: as gpu_collide.bodies.motion.HALF_TURN */
#define GC_OWN_HALF_TURN GC_R(1e-12)
/* a component of the half-turn axis counts as non-zero above this */
#define GC_AXIS_COMPONENT GC_R(1e-9)
/* a chord that leads away from the axis by less than this share of its length lies along it: what is left of it across
 * the axis is rounding (3e-16 of the chord seen), whose direction need not even be across */
#define GC_AXIAL GC_R(1e-15)
/* a relative motion shorter than this (in sizes, over the whole step) is none: far below the touch tolerance, above
 * the rounding of poses, whose direction would be taken for a direction of approach */
#define GC_NO_MOTION GC_R(1e-13)
/* a relative motion longer than this (in sizes) leaves float64 no digits for the tolerances: the pair is UNRESOLVED */
#define GC_MAX_MOTION GC_R(1e12)
/* the same of what two bodies move that are on no one screw, each by itself: the equations are rounded by 7e-15 of it */
#define GC_MAX_OWN_MOTION GC_R(1e8)
/* ... and of that times the larger turn, radians: how far arcs bend, of which GC_MOST_PIECES stray by half a size then */
#define GC_MAX_OWN_BEND GC_R(3e7)
/* a body A whose own way is longer than this (in the user's units, along an axis) may leave the numbers there are on its
 * way, and its contacts with it: the pair is UNRESOLVED */
#define GC_MAX_OWN_WAY GC_R(1e307)
/* the same in sizes: in single, poses are rounded to float32 after A's start was taken off, and a way that both go together
 * takes the digits of where they are to each other; in double the caller's numbers are taken as they are */
#define GC_MAX_OWN_SIZES GC_R(1e300)
/* solids overlap if they go deeper than this; less is touch. Parts too thin to be shrunk by it are shrunk by
 * GC_OVERLAP_SHARE of their thickness */
#define GC_OVERLAP_DEPTH GC_R(1e-7)
/* places of a pair are rounded by this share of size and way when solids are looked at (seen: 1.1e-15, ways of 0.01
 * to 1e6 sizes) */
#define GC_OVERLAP_ROUNDING GC_R(1e-14)
/* a ray whose side of an edge is nearer to 0 than this share of what it is computed from has no answer, another is tried */
#define GC_RAY_ROUNDING GC_R(2e-15)
/* quaternions further than this from unit length are invalid, nearer ones are normalised */
#define GC_TOL_QUATERNION GC_R(1e-3)
/* segments and pixels: nearer to the axis than this a point is on it, and its azimuth is rounding */
#define GC_ANSWER_AXIS GC_R(1e-9)
/* Pluecker: the unit of rounding, twice the error of one operation */
#define GC_ROUNDING GC_R(2.220446049250313e-16)
/* Pluecker: bound on the error of a side, in products of the largest coordinates of its three differences (docs/pluecker.md) */
#define GC_SIDE_ROUNDING GC_R(5.4e-15)
/* Pluecker: the same for a side as edges turn, in products of the lengths of both edges and of their ways to the axis */
#define GC_SWING_ROUNDING GC_R(8e-15)
/* Pluecker: an edge within this angle of a face's plane may go with either side of it (rounding of normals: 4e-16) */
#define GC_FACING_ROUNDING GC_R(2e-15)
/* depth: sine of the angle by which a normal between two edges may not be across one, or be beside those of its faces: rounding */
#define GC_DEEP_ACROSS GC_R(1e-4)
#else
/* single precision: the same rules with float32 rounding (6e-8) */
#define GC_TOL_INSIDE GC_R(1e-5)
#define GC_PLACE_ROUNDING GC_R(1e-6)
#define GC_PLACE_DOUBT GC_R(1e-5)
#define GC_TOL_TOUCH GC_R(2e-6)
#define GC_FLAT GC_R(1e-3)
#define GC_TOL_PARALLEL GC_R(1e-5)
#define GC_NEARLY_PARALLEL GC_R(1e-3)
#define GC_TOL_TIE GC_R(1e-5)
#define GC_PROPERNESS_STEPS GC_R(65536.0)
#define GC_TOL_FACING GC_R(1e-5)
#define GC_TOL_CONE GC_R(1e-5)
#define GC_BODY_ROUNDING GC_R(3.6)
#define GC_ONE_SCREW GC_R(4e-6)
#define GC_TAU_TIME GC_R(1e-6)
#define GC_TAU_LENGTH GC_R(1e-5)
#define GC_CURVE_ROUNDING GC_R(1e-6)
#define GC_MIN_HALF_SINE GC_R(5e-7)
#define GC_HALF_TURN GC_R(5e-7)
#define GC_OWN_HALF_TURN GC_R(5e-7)
#define GC_AXIS_COMPONENT GC_R(1e-4)
#define GC_AXIAL GC_R(5e-7)
#define GC_NO_MOTION GC_R(1e-6)
#define GC_MAX_MOTION GC_R(1e5)
#define GC_MAX_OWN_MOTION GC_R(1e2)
#define GC_MAX_OWN_BEND GC_R(1e2)
#define GC_MAX_OWN_WAY GC_R(1e37)
#define GC_MAX_OWN_SIZES GC_R(1e5)
#define GC_OVERLAP_DEPTH GC_R(1e-4)
#define GC_OVERLAP_ROUNDING GC_R(2e-6)
#define GC_RAY_ROUNDING GC_R(1e-6)
#define GC_TOL_QUATERNION GC_R(1e-3)
#define GC_ANSWER_AXIS GC_R(1e-4)
#define GC_ROUNDING GC_R(1.1920929e-7)
#define GC_DEEP_ACROSS GC_R(2e-3)
#define GC_SIDE_ROUNDING GC_R(2.9e-6)
#define GC_SWING_ROUNDING GC_R(4.3e-6)
#define GC_FACING_ROUNDING GC_R(1e-6)
#endif

/* Pluecker: half-angle tangent of a half turn */
#if GC_PRECISION == 2
#define GC_TURN_MOST GC_R(1e30)
#else
#define GC_TURN_MOST GC_R(1e300)
#endif
/* Pluecker: the default zone, in roundings of the largest coordinate involved; thinner is not accepted (docs/pluecker.md) */
#define GC_ZONE_DEFAULT GC_R(256.0)
/* Pluecker: share of the zone by which a hit may lie beside a border; it is as near as a mover comes beside one */
#define GC_ZONE_LATERAL GC_R(0.25)
/* Pluecker: so many zones beside a polygon, in its plane, a path that is flat against the plane is stopped */
#define GC_ZONE_BESIDE GC_R(2.0)
/* Pluecker: what stopped stands so many zones at most before what stopped it, along the normal (seen: 1.002), and beside it, by border (2
 * on ways, 17/8 on turns) */
#define GC_ZONE_STANDS GC_R(1.0625)
#define GC_ZONE_ASIDE GC_R(2.25)
/* Pluecker: share of the zone that the error of a distance must stay below, or it is computed in twice the digits */
#define GC_ZONE_SURE GC_R(0.0625)
/* Pluecker: edges that part by less than this share of the zone over their length are parallel */
#define GC_ZONE_PARALLEL GC_R(0.125)
/* Pluecker: boxes are grown by so many zones, and faces are at a place of touch within so many */
#define GC_ZONE_REACH GC_R(4.0)
/* Pluecker: what touches at the start of a turn leaves at this slope, off the planes by so much of an angle, or is held */
#define GC_TOUCH_STEEP GC_R(1e-5)
/* Pluecker: edges are on one line within so many times the tolerance beside borders; those that turn have parted at so many times that */
#define GC_ZONE_ALONG GC_R(4.0)

/* sweep: lengths within so many roundings of the largest coordinate are nothing: a centre that little behind a face is in
 * front of it, and what starts there is stopped */
#define GC_SWEEP_SLACK GC_R(16.0)
#if GC_PRECISION == 2
/* sweep: what lies on a face or an edge, sunk by up to so many slacks, is not held by the edges and vertices that this shares with its
 * neighbours */
#define GC_SWEEP_SUNK GC_R(2.0)
/* sweep: a face or an edge is touched by what comes onto it sunk by up to so many slacks; more than GC_SWEEP_SUNK, so that nothing slides
 * from a neighbour into it */
#define GC_SWEEP_ONTO GC_R(4.0)
#else
#define GC_SWEEP_SUNK GC_R(64.0)
#define GC_SWEEP_ONTO GC_R(80.0)
#endif
/* sweep: a way that leads towards a feature by less than so many roundings of its length goes along it */
#define GC_SWEEP_ALONG GC_R(4.0)
/* sweep: spheres smaller than so many roundings are tested as points against faces, so that no seam lets them through; in float32 none
 * but those that are points altogether (GC_SWEEP_POINT slacks), since places are off by as much as such a sphere */
#if GC_PRECISION == 2
#define GC_SWEEP_THIN GC_R(64.0)
#else
#define GC_SWEEP_THIN GC_R(4096.0)
#endif
/* sweep: spheres up to so many slacks are points: what they do at edges and vertices is below rounding, and faces are closed */
#define GC_SWEEP_POINT GC_R(4.0)
/* sweep: square of the sine of an angle to a plane below which the time at which a point is level with it has lost digits */
#define GC_SWEEP_FLAT GC_R(0.01)
/* sweep among bodies that turn: what approaches by less than so many roundings of the speeds there goes along */
#define GC_SWEEP_CURVED GC_R(32.0)
/* how far the curve of a piece may be off its tangent, in sizes of the mesh; into how many halves of halves a step is cut at most; parts
 * that a search for one gap's zeros looks at at most, and the shortest of them: what is left is judged by the signs at its ends */
#define GC_CURVED_PAD GC_R(0.004)
#if GC_PRECISION == 2
#define GC_CURVED_LEVELS 18
#define GC_CURVED_LEAST GC_R(1e-6)
#else
#define GC_CURVED_LEVELS 28
#define GC_CURVED_LEAST GC_R(1e-14)
#endif
#define GC_CURVED_VISITS 256
/* characters: a velocity that leads into a plane by less than so many roundings of its length does not */
#define GC_CLIP_ROUNDING GC_R(64.0)
/* characters: along a crease, further than any velocity */
#define GC_CLIP_FAR GC_R(1e30)
#if GC_PRECISION == 2
/* characters: planes whose normals differ by less than this sine are one, or face each other */
#define GC_CLIP_PARALLEL GC_R(1e-3)
#else
#define GC_CLIP_PARALLEL GC_R(1e-7)
#endif
#if GC_PRECISION == 1
/* sweep: boxes are widened by this share of their mesh, and times by the second share of themselves */
#define GC_BVH8_PAD GC_R(1e-14)
#define GC_BVH8_MARGIN GC_F(1e-15)
#else
#define GC_BVH8_PAD GC_R(1e-6)
#define GC_BVH8_MARGIN GC_F(5e-7)
#endif

/* boxes of a tree's nodes are widened by this, in radii of the body, when solids are looked at: they are float32 */
#define GC_OVERLAP_NODE GC_R(1e-6)
/* solids: a face may be so far off its plane, in radii of its body */
#define GC_OVERLAP_FLAT GC_R(2e-6)
/* solids: a part is shrunk by at most this share of its thickness (three volumes over its surface; of the radius, if it is
 * open), so that what is thinner than GC_OVERLAP_DEPTH is not turned inside out */
#define GC_OVERLAP_SHARE GC_R(0.01)
/* solids: a part that may be shrunk by less than so many roundings overlaps only if it lies inside by the depth */
#define GC_OVERLAP_SPECK GC_R(16.0)
/* solids: planes at one place whose normals have less than this for a sine count as one, and a line in a plane if its sine
 * with it is less */
#define GC_CORNER_PARALLEL GC_R(1e-4)
/* solids: cells between such planes in which no direction is steeper to all of them than this sine are left out: slivers */
#define GC_CORNER_ROOM GC_R(0.02)
/* solids: so many planes of different directions that meet at a place are looked at, further ones are not */
#define GC_CORNER_PLANES 16

#if GC_PRECISION == 2
/* near faces: share of a vertex's own coordinates that counts as far from the near frame's origin: all, if they are float32 */
#define GC_NEAR_ROUNDED GC_R(1.0)
/* near faces: facing tolerance while culling, in shares of the solver's speed (GC_TOL_FACING with room to spare) */
#define GC_NEAR_FACING GC_R(4e-5)
/* segments and pixels: facing tolerance while culling; what is drawn may face away by 100 GC_TOL_FACING */
#define GC_DRAWN_FACING GC_R(2e-3)
#else
#define GC_NEAR_ROUNDED GC_R(1e-8)
#define GC_NEAR_FACING GC_R(1e-8)
#define GC_DRAWN_FACING GC_R(2e-7)
#endif

#if GC_PRECISION == 1
/* culling pad: this times (1 + speed/size); the arctangent's fit is good to 2e-12 */
#define GC_CULL_PAD GC_F(1e-9)
/* near faces: added to the pad for each unit that the faces reach from the near frame's origin */
#define GC_NEAR_PAD GC_F(1e-9)
/* facing tolerance while culling, in shares of the speed */
#define GC_CULL_FACING GC_F(1e-7)
#else
/* culling pad: this times (1 + speed/size); rounding of rho and psi seen: 7.5e-7; wider costs candidates */
#define GC_CULL_PAD GC_F(6e-6)
#define GC_NEAR_PAD GC_F(3e-6)
#define GC_CULL_FACING GC_F(1e-5)
#endif
/* features nearer to the axis than this have no usable azimuth and are taken to span all of it */
#define GC_CULL_AXIS GC_F(3e-3)
/* rows with more records than this are sorted by a heap (Shell's sort is faster on the shorter ones) */
#define GC_SORT_BY_HEAP 2048
/* segments and pixels: halvings of the rows that two edges share, and of what bends within a row; what is left is straight */
#define GC_ANSWER_DEPTH 64
/* pixels: sides of a face in one row that are distinguished from its inside; those beyond count as inside */
#define GC_ANSWER_SIDES 16
/* properness is culled with this slack (rounding of float32 directions seen: 1.1e-7, of turning them 2.2e-7) */
#define GC_CULL_PROPERNESS GC_F(1e-5)
/* filters: added to the pad, since a face may be so far off its plane, and what touches the plane then lies outside the
 * hull of its corners */
#define GC_FILTER_FLAT GC_F(1e-6)
/* larger than any screen coordinate that can matter, smaller than what overflows float32 when squared */
#define GC_CULL_FAR GC_F(1e15)

/* Lists of boxes longer than this are looked at through hulls of blocks where a group is one work-item, and their edges have chords: shorter ones are
 * sooner tested (docs/decisions/0050, 0069). GC_BLOCK at least: a list below that may be one with its copies, of which chords know nothing. */
#define GC_TILED 192
/* the product of their lengths from which on chords pay */
#define GC_CHORDED 300000
/* ... and sorted into cells of the screen by so many halvings (docs/decisions/0080) */
#define GC_TILE_SPLITS 10
/* features="auto": a pair looks at near faces only if a mesh of it has more faces than this and is far wider than the other, by so
 * many halvings; or if one has more than the second number, however wide; or than the third, where walks are not given up, as on
 * a GPU (docs/decisions/0011, 0049, 0082) */
#define GC_AUTO_NEAR_FACES 1024
#define GC_AUTO_NEAR_ALWAYS 3072
#define GC_AUTO_NEAR_LARGE 8192
#define GC_AUTO_NEAR_WIDER 2
/* near faces: the near frame's unit is at most so many halvings below the larger body; a body smaller than that is already
 * below the touch tolerance, and the reach of a face that can be met stays an int */
#define GC_NEAR_SCALES 24
/* near faces: double cones of contact normals are those of contacts of at least this properness; queries for less do without
 * (docs/decisions/0049) */
#define GC_CONE_PROPERNESS GC_R(-0.1)
/* near faces: cosines of cones are made smaller by this, so that rounding to float32 makes none narrower */
#define GC_CONE_ROUNDED GC_R(0.999999)
/* near faces: added to the angle between double cones: rounding, also of normals of nearly parallel edges */
#if GC_PRECISION == 2
#define GC_CONE_SLACK GC_F(2e-2)
#else
#define GC_CONE_SLACK GC_F(1e-5)
#endif
/* contacts="first": pairs of meshes with a larger product of face counts than this have their trees walked down, the earliest pair of
 * nodes first (docs/decisions/0061) */
#define GC_FIRST_FACE_PRODUCT 4000000
/* ... and left to the screen after so many pairs of nodes, a face of both meshes (docs/decisions/0075) */
#define GC_FIRST_LOOKS GC_F(0.75)
/* ... nodes of each side whose children a work-item alone remembers; a power of two */
#define GC_KEPT_PAGES 256
/* ... added to either end of the time that a node takes through the slab of another, in steps (rounding seen: 2e-7) */
#define GC_NEAREST_SLACK GC_F(1e-5)
/* ... and how much longer than to a hit, in tau, what may be before it or be one meeting with it is looked for; a meeting's hits lie
 * within two of each other */
#define GC_FIRST_CHAIN GC_F(256.0)
/* contacts="first": pairs of meshes with at least this product of face counts are looked at between their hulls first
 * (docs/decisions/0058), by a work-item alone and by many, for which small meshes are little work */
#define GC_HULLS_ALONE_PRODUCT 36
#define GC_HULLS_FACE_PRODUCT 1600
/* ... if neither has more vertices than this, nor more than so many times the other's and some: a car on a track is inside its hull */
#define GC_HULLS_VERTICES 16384
#define GC_HULLS_TIMES 16
#define GC_HULLS_SOME 256
/* ... how deep through the plane between them, in scaled lengths, the first window goes */
#define GC_SLAB_DEEP GC_R(2e-4)
/* ... what a group remembers of it: so many features of each of six kinds, and pairs of features whose boxes meet; pairs of bodies
 * with more are left to the screen */
#define GC_SLAB_ROOM 128
#define GC_SLAB_MET 256
#define GC_SLAB_COUNTS 16
/* near faces: ints of scratch for each node that a side has room for, and how many pairs of nodes there is room for, a node: more of
 * these take more of those */
#define GC_NEAR_INTS 42
#define GC_NEAR_PAIRS 8
/* near faces: with more pairs of nodes that meet than so many, and than half the faces of both meshes, they are listed as they
 * are: much is near then, and the screen takes less for it than the rest of the walk (docs/decisions/0062) */
#define GC_NEAR_MEETS 1024
/* near faces: a walk that may be given up is, when the pairs that it is about to look at are more than so many a face of both meshes:
 * the screen takes less for all of their faces (docs/decisions/0082) */
#define GC_NEAR_LOOKS GC_F(0.3)
/* ... of two meshes with no more faces than this */
#define GC_NEAR_WHOLE 131072
/* near faces: with more pairs than so many nodes of a few faces go down to single ones */
#define GC_NEAR_FINE 256
/* clearance: boxes of nodes are widened by this, in radii of the body: they are float32 */
#define GC_CLEAR_NODE GC_R(4e-7)
/* clearance: what a bound may lie below a distance at least, and what is touch at least, in roundings of size and way
 * (GC_OVERLAP_ROUNDING) */
#define GC_CLEAR_MARGIN GC_R(4.0)
/* clearance: boxes so many times as far apart as they are large have one direction between them, along which a span of time costs what it
 * does; of others how far B goes counts */
#define GC_CLEAR_APART GC_R(3.0)
/* clearance: the direction of a node's slab is looked at where it is so many times as far to the rim as the slab is thick */
#define GC_CLEAR_FLAT GC_R(2.0)
/* clearance: features are followed through so many halvings of a span, and nodes down to spans of so much of a step */
#define GC_CLEAR_LEVELS 44
#define GC_CLEAR_SPAN GC_R(1e-12)
/* clearance: levels of a tree of faces; and spans and nodes that are put aside, of which each division puts one: both heights, the halvings of a
 * step down to GC_CLEAR_SPAN, and one */
#define GC_CLEAR_HEIGHT 27
#define GC_CLEAR_STACK 96
/* clearance: features and nodes of a pair that are looked at; with more the pair is UNRESOLVED (a second or ten) */
#define GC_CLEAR_LOOKS 16777216
/* clearance: steps by which the moment is refined that the search found */
#define GC_CLEAR_STEPS 64
/* depth: what the cosines of cones of normals may be off: nodes are float32 */
#define GC_DEEP_CONE GC_R(1e-4)
/* depth: meshes of no more edges are gone through without their trees */
#define GC_DEEP_FEW 64
/* depth: two features that are so many times as deep as the region reaches, along the area vector of the surface in it, are none of it:
 * of convex bodies the reach was up to 1.23 times the least translation */
#define GC_DEEP_PAIR GC_R(2.0)
/* depth: how far B is moved where regions are looked for, in the least depths that are an overlap */
#define GC_DEEP_NUDGE GC_R(0.25)
/* caps; reaching one sets UNRESOLVED for the pair, never drops in silence */
#define GC_MAX_NEWTON 80
/* pieces of the motions of two bodies, where culling takes a screw for each: how far both turn in one, radians; how far B may be off
 * the screw, in units of the smaller radius; and how many there are at most */
#define GC_PIECE_TURN GC_R(0.8)
#define GC_PIECE_PAD GC_R(0.02)
#define GC_MOST_PIECES 4096
/* ... a smaller body counts as so large, in units of the pair's size */
#define GC_PIECE_MOTE GC_R(1e-3)
/* a body that turns farther in a step, radians, about 160 revolutions, is UNRESOLVED */
#define GC_MOST_TURN GC_R(1000.0)
/* ... and what is searched beyond the ends of one, in steps: more than what float32 rounds them by */
#define GC_PIECE_OVERLAP GC_R(1e-6)
#define GC_MAX_LEVEL 44
/* pieces that one walk in search of roots may look at: some 0.1 ms; the most seen in 25,000 hostile pairs: 64 to 128 */
#define GC_MAX_VISITS 1024
#define GC_MAX_PIECES 64
/* nodes by which the third derivative is bounded of what hardly changes: the least bound, of 12 to 24, for pieces of 0.8 rad */
#define GC_THIRD_NODES 16
#define GC_MAX_COPIES 5
/* A mesh of up to so many features is small: among many work-items pairs of such have a screen of their own. A word of bits each, two of
 * edges (gc_small.h). */
#define GC_SMALL_VERTICES 32
#define GC_SMALL_EDGES 64
#define GC_SMALL_FACES 32
/* hits of a pair, more than which are compared only with those that are near along A (gc_dedup_sorted.h) */
#define GC_MANY_HITS 48
/* finer screens are refused as too large (MemoryLimitError); with it, sums over a group of 256 stay below 2^31 */
#define GC_MAX_ROWS 4000000

#endif
