//! The walk: breadth first through every state that a scene can reach.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stormproof::proof::{CircuitPhase, State};
use stormproof::{Control, Outcome};

use crate::laws::LAWS;
use crate::promises;
use crate::seen::Seen;
use crate::transition::Transition;
use crate::world::{Move, Scene, World};

/// What a walk saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub states: usize,
    pub moves: usize,
    /// Moves from the start to the farthest state.
    pub depth: usize,
    pub seen: Seen,
}

/// 128 bits of two SipHash-1-3 over different beginnings: among 10^8 states two would share them with a
/// probability below 10^-22.
type Key = (u64, u64);

fn key(state: &State) -> Key {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        state.hash(&mut hasher);
        hasher.finish()
    };
    (hash(0), hash(1))
}

/// How a state was reached first.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    what: Move,
    is_home: bool,
}

/// A state of the newest layer, whose moves are to be made.
struct Place {
    index: u32,
    world: World,
    state: State,
}

/// What one move led to.
struct Arrival {
    from: u32,
    what: Move,
    key: Key,
    is_good: bool,
    seen: Seen,
    /// Left out where the state was known already.
    place: Option<Box<(World, State)>>,
}

struct Walk<'a> {
    scene: &'a Scene,
    known: HashMap<Key, u32>,
    nodes: Vec<Node>,
    /// Moves of time and of healthy answers, backwards.
    good: Vec<(u32, u32)>,
    figures: Figures,
}

/// Visits every reachable state.
///
/// # Errors
///
/// The first law broken, with the moves that lead there.
pub fn walk(scene: &Scene) -> Result<Figures, String> {
    let world = World::new(&scene.rules);
    let state = world.engine.state(world.now());
    let mut walk = Walk {
        scene,
        known: HashMap::from([(key(&state), 0)]),
        nodes: vec![Node { parent: 0, what: Move::Tick, is_home: is_home(&state) }],
        good: Vec::new(),
        figures: Figures::default(),
    };
    let mut layer = vec![Place { index: 0, world, state }];
    while !layer.is_empty() {
        layer = walk.next(&layer)?;
        walk.figures.depth += usize::from(!layer.is_empty());
    }
    walk.figures.states = walk.nodes.len();
    walk.closed_is_reachable()?;
    Ok(walk.figures)
}

impl Walk<'_> {
    fn next(&mut self, layer: &[Place]) -> Result<Vec<Place>, String> {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let chunk = layer.len().div_ceil(threads);
        let walk = &*self;
        let arrivals = std::thread::scope(|scope| {
            let workers: Vec<_> =
                layer.chunks(chunk).map(|part| scope.spawn(|| walk.moves_of(part))).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            workers.into_iter().map(join).collect::<Result<Vec<Vec<Arrival>>, String>>()
        })?;
        let mut places = Vec::new();
        for arrival in arrivals.into_iter().flatten() {
            places.extend(self.arrive(arrival));
        }
        Ok(places)
    }

    /// Makes every move of these states and checks the laws.
    fn moves_of(&self, places: &[Place]) -> Result<Vec<Arrival>, String> {
        let mut arrivals = Vec::new();
        for place in places {
            let trail = |text: String| format!("{text}\n{}", self.trail(place.index));
            promises::check(&place.world, &place.state).map_err(trail)?;
            for what in place.world.moves(self.scene) {
                let text =
                    |text: String| format!("{text}\n{}then {what:?}", self.trail(place.index));
                arrivals.push(self.make(place, what).map_err(text)?);
            }
        }
        Ok(arrivals)
    }

    fn make(&self, place: &Place, what: Move) -> Result<Arrival, String> {
        let mut world = place.world.clone();
        let named = match what {
            Move::Settle { call, .. } | Move::Elapse { call, .. } | Move::Cancel { call } => {
                world.calls.get(call as usize).copied()
            }
            Move::Late { attempt } => world.abandoned.get(attempt as usize).copied(),
            _ => None,
        };
        let made = world.make(self.scene, what);
        let state = world.engine.state(world.now());
        let transition = Transition {
            scene: self.scene,
            what,
            span: World::span_of(what),
            before: &place.state,
            after: &state,
            subject: named.or(made.map(|(id, _)| id)).and_then(|id| place.world.call(id)),
            step: made.map(|(_, step)| step),
            world: &world,
        };
        for (name, law) in LAWS {
            law(&transition).map_err(|text| format!("{name}: {text}\n{transition}"))?;
        }
        let key = key(&state);
        let is_good = is_good(&transition);
        let seen = transition.step.map(|step| Seen::of(&step, &state)).unwrap_or_default();
        let arrived = (!self.known.contains_key(&key)).then(|| Box::new((world, state)));
        Ok(Arrival { from: place.index, what, key, is_good, seen, place: arrived })
    }

    fn arrive(&mut self, arrival: Arrival) -> Option<Place> {
        let Arrival { from, what, key, is_good, seen, place } = arrival;
        self.figures.moves += 1;
        self.figures.seen.add(seen);
        let next = self.nodes.len() as u32;
        let index = *self.known.entry(key).or_insert(next);
        if is_good {
            self.good.push((index, from));
        }
        // Two moves of one layer may have led there.
        let (world, state) = *place.filter(|_| index == next)?;
        self.nodes.push(Node { parent: from, what, is_home: is_home(&state) });
        Some(Place { index, world, state })
    }

    /// K8: from every state, time and healthy answers lead back to a closed circuit at rest.
    fn closed_is_reachable(&mut self) -> Result<(), String> {
        self.good.sort_unstable();
        let mut reached: Vec<bool> = self.nodes.iter().map(|node| node.is_home).collect();
        let mut open: Vec<u32> =
            (0..self.nodes.len() as u32).filter(|index| reached[*index as usize]).collect();
        while let Some(index) = open.pop() {
            let first = self.good.partition_point(|(to, _)| *to < index);
            for (_, from) in self.good[first..].iter().take_while(|(to, _)| *to == index) {
                if !std::mem::replace(&mut reached[*from as usize], true) {
                    open.push(*from);
                }
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(stuck) => {
                let count = reached.iter().filter(|reached| !**reached).count();
                let trail = self.trail(stuck as u32);
                Err(format!("K8 lock-up: {count} states never lead to closed, the first\n{trail}"))
            }
        }
    }

    /// The moves that lead to a state.
    fn trail(&self, mut index: u32) -> String {
        let mut moves = Vec::new();
        while index != 0 {
            let node = &self.nodes[index as usize];
            moves.push(format!("then {:?}", node.what));
            index = node.parent;
        }
        moves.reverse();
        format!("in the scene {}\n{}\n", self.scene.name, moves.join("\n"))
    }
}

/// Nobody is there and the circuit is closed with nothing counted against it.
fn is_home(state: &State) -> bool {
    let CircuitPhase::Closed { run, failures, slices, .. } = &state.circuit.phase else {
        return false;
    };
    let forgiven = run.0 == 0 && failures.is_empty() && slices.iter().all(|slice| slice[1] == 0);
    forgiven && state.calls.is_empty()
}

/// Does only time pass, a call start, or a healthy answer come? An order that was given by hand is
/// taken back by hand.
fn is_good(t: &Transition<'_>) -> bool {
    match t.what {
        Move::Tick | Move::Hour | Move::Start(_) | Move::Late { .. } | Move::Poll { .. } => true,
        Move::Settle { outcome, .. } => t.scene.outcomes[outcome as usize] == Outcome::SUCCESS,
        Move::Elapse { .. } => t.end().is_none(),
        Move::Cancel { .. } => false,
        Move::Control(_) => {
            t.control() == Some(Control::Reset)
                && matches!(t.before.circuit.phase, CircuitPhase::Forced(_))
        }
    }
}
