/**
 * The promises of watches, as checks over a recorded history: what was written, what streams showed of it, what reads showed.
 * The same checks for the store, for watches and space streams over HTTP, for streams in process, and for informers.
 * Nothing here knows where a record comes from; `watchRecords.ts` makes them.
 */

/** Name of a broken promise. */
export type WatchPromise =
  /** Revisions strictly rise. */
  | 'ordered'
  /** Each change comes once; each revision is one write's. */
  | 'unique'
  /** Every acknowledged write of the selection comes. */
  | 'gapless'
  /** An event shows what was written at its revision; a snapshot shows one instant. */
  | 'atomic'
  /** Resumed at any event, a stream gives exactly the rest. */
  | 'resumable'
  /** At a bookmark all up to its revision has come, and nothing of that comes later. */
  | 'bookmarkable'
  /** Only the selection comes; entering it is an addition, leaving it a deletion. */
  | 'filtered'

export interface Broken {
  promise: WatchPromise
  why: string
}

/** One write in the log. */
export interface Change {
  /** Names the object in the whole history. */
  key: string
  revision: number
  type: 'put' | 'delete'
  /** The object, or its last state, without its version. */
  content: string
}

/** Acknowledged write of a client. A deletion whose answer has no version only proves that there was one. */
export type Acknowledged = Change | { key: string; type: 'delete'; revision?: undefined }

export type Seen =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; key: string; revision: number; content: string }
  | { type: 'BOOKMARK'; revision: number }
type SeenEvent = Exclude<Seen, { type: 'BOOKMARK' }>

/** Versions and objects of a reader's request. Default: all. */
export type Selects = (change: Change) => boolean

export interface Snapshot {
  name: string
  revision: number
  items: readonly { key: string; revision: number; content: string }[]
  selects?: Selects
}

export interface StreamRecord {
  name: string
  /** The request was for events with a greater revision. */
  after: number
  seen: readonly Seen[]
  /** It was read so far that everything up to here had to come. */
  through: number
  selects?: Selects
  /** The stream of the same selection that this one goes on with. */
  resumes?: StreamRecord
}

/** A copy that follows a server and may leave out versions, such as an informer's. */
export interface FollowerRecord {
  name: string
  changes: readonly {
    type: 'apply' | 'delete'
    key: string
    revision: number
    content: string
    /** The former version of the copy, as its listeners got it. */
    previous?: number | undefined
  }[]
  /** Its content at the end of the log. */
  holds: Snapshot['items']
  selects?: Selects
}

export interface History {
  /** All changes, in the order of the log; also unacknowledged ones. */
  log: readonly Change[]
  acknowledged?: readonly Acknowledged[]
  snapshots?: readonly Snapshot[]
  streams?: readonly StreamRecord[]
  followers?: readonly FollowerRecord[]
}

const ALL: Selects = () => true

/** Empty when every promise was kept. */
export function brokenPromises(history: History): Broken[] {
  const { log, acknowledged = [], snapshots = [], streams = [], followers = [] } = history
  return [
    ...reusedRevisions(log),
    ...forgottenWrites(log, acknowledged),
    ...snapshots.flatMap(snapshot => brokenBySnapshot(log, snapshot)),
    ...streams.flatMap(stream => [...brokenByStream(log, stream), ...brokenByResuming(stream)]),
    ...followers.flatMap(follower => brokenByFollower(log, follower)),
  ]
}

function reusedRevisions(log: readonly Change[]): Broken[] {
  return log.flatMap(({ revision, key }, i) =>
    i > 0 && revision <= log[i - 1]!.revision
      ? [{ promise: 'unique', why: `${revision} of ${key} was used twice` }]
      : [],
  )
}

function forgottenWrites(log: readonly Change[], acknowledged: readonly Acknowledged[]): Broken[] {
  const written = new Map(log.map(change => [change.revision, change]))
  const deletions = counted(log.filter(({ type }) => type === 'delete'))
  const broken = [...counted(acknowledged.filter(({ type }) => type === 'delete'))].flatMap(([key, count]): Broken[] =>
    (deletions.get(key) ?? 0) < count ? [{ promise: 'gapless', why: `a deletion of ${key} is not in the log` }] : [],
  )
  for (const told of acknowledged) {
    if (told.revision === undefined) continue
    const change = written.get(told.revision)
    if (change === undefined) broken.push({ promise: 'gapless', why: `the write ${told.revision} is not in the log` })
    else if (change.key !== told.key || change.type !== told.type || change.content !== told.content)
      broken.push({ promise: 'atomic', why: `the log has something else at ${told.revision}` })
  }
  return broken
}

function counted(changes: readonly { key: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { key } of changes) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** The objects of a selection as of a revision, by key. */
function stateAt(log: readonly Change[], revision: number, selects: Selects): Map<string, Change> {
  const state = new Map<string, Change>()
  for (const change of log) {
    if (change.revision > revision) break
    if (change.type === 'put' && selects(change)) state.set(change.key, change)
    else state.delete(change.key)
  }
  return state
}

function brokenBySnapshot(log: readonly Change[], { name, revision, items, selects = ALL }: Snapshot): Broken[] {
  const broken: Broken[] = []
  const add = (promise: WatchPromise, why: string): number =>
    broken.push({ promise, why: `${name} at ${revision}: ${why}` })
  const state = stateAt(log, revision, selects)
  const whole = stateAt(log, revision, ALL)
  const shown = new Set<string>()
  for (const item of items) {
    const { key } = item
    if (shown.has(key)) add('unique', `${key} stands twice`)
    shown.add(key)
    const change = state.get(key)
    if (change?.revision === item.revision && change.content === item.content) continue
    if (change === undefined && whole.get(key)?.revision === item.revision)
      add('filtered', `${key} is not of the selection`)
    else add('atomic', `${key} is shown as of ${item.revision}, and was ${change?.revision ?? 'not there'}`)
  }
  for (const key of state.keys()) if (!shown.has(key)) add('atomic', `${key} is not shown`)
  return broken
}

/** Expected events of a stream of a selection, by revision. */
function expectedEvents(log: readonly Change[], after: number, selects: Selects): Map<number, SeenEvent> {
  const selected = new Map<string, Change>()
  const events = new Map<number, SeenEvent>()
  for (const change of log) {
    const { key, revision } = change
    const before = selected.get(key)
    const isSelected = change.type === 'put' && selects(change)
    if (isSelected) selected.set(key, change)
    else selected.delete(key)
    if (revision <= after || (before === undefined && !isSelected)) continue
    const type = before === undefined ? 'ADDED' : isSelected ? 'MODIFIED' : 'DELETED'
    // what leaves a selection shows its last state there
    const { content } = type === 'DELETED' && change.type === 'put' ? before! : change
    events.set(revision, { type, key, revision, content })
  }
  return events
}

function brokenByStream(log: readonly Change[], stream: StreamRecord): Broken[] {
  const { name, after, seen, through, selects = ALL } = stream
  const broken: Broken[] = []
  const add = (promise: WatchPromise, why: string): number => broken.push({ promise, why: `${name}: ${why}` })
  const expected = expectedEvents(log, after, selects)
  const written = new Set(log.map(({ revision }) => revision))
  const came = new Set<number>()
  let last = after
  let marked = after
  for (const event of seen) {
    const { revision } = event
    if (event.type === 'BOOKMARK') {
      const missing = [...expected.keys()].find(each => each <= revision && !came.has(each))
      if (missing !== undefined) add('bookmarkable', `a bookmark says ${revision}, and ${missing} has not come`)
      if (revision < last) add('bookmarkable', `a bookmark says ${revision}, and ${last} has come`)
      marked = Math.max(marked, revision)
      continue
    }
    if (came.has(revision)) add('unique', `${revision} comes twice`)
    else if (revision <= after) add('resumable', `${revision} comes, and what is behind ${after} was asked for`)
    else if (revision <= marked) add('bookmarkable', `${revision} comes behind a bookmark that says ${marked}`)
    else if (revision < last) add('ordered', `${revision} comes behind ${last}`)
    const wanted = expected.get(revision)
    if (revision > after) addDifference(event, wanted, written.has(revision), add)
    came.add(revision)
    last = Math.max(last, revision)
  }
  for (const revision of expected.keys())
    if (revision <= through && !came.has(revision)) add('gapless', `${revision} does not come`)
  return broken
}

function addDifference(
  event: SeenEvent,
  wanted: SeenEvent | undefined,
  isWritten: boolean,
  add: (promise: WatchPromise, why: string) => void,
): void {
  const { revision, key, type } = event
  if (!isWritten) add('atomic', `${revision} shows what nobody wrote`)
  else if (wanted === undefined) add('filtered', `${revision} is not of the selection`)
  else if (key !== wanted.key) add('atomic', `${revision} is of ${wanted.key}, and shows ${key}`)
  else if (type !== wanted.type) add('filtered', `${revision} is ${type}, and should be ${wanted.type}`)
  else if (event.content !== wanted.content)
    add('atomic', `${revision} shows ${event.content}, and is ${wanted.content}`)
}

function brokenByResuming({ name, after, seen, through, resumes }: StreamRecord): Broken[] {
  if (resumes === undefined) return []
  const upTo = Math.min(through, resumes.through)
  const events = (all: readonly Seen[]): string[] =>
    all.flatMap(each =>
      each.type === 'BOOKMARK' || each.revision <= after || each.revision > upTo
        ? []
        : [`${each.revision} ${each.type} ${each.key} ${each.content}`],
    )
  const rest = events(resumes.seen)
  const given = events(seen)
  const at = Math.max(rest.length, given.length)
  for (let i = 0; i < at; i++) {
    if (rest[i] === given[i]) continue
    const why = `${name}: resumed behind ${after} it gives ${given[i] ?? 'nothing'}, and not ${rest[i] ?? 'nothing'}`
    return [{ promise: 'resumable', why }]
  }
  return []
}

function brokenByFollower(log: readonly Change[], { name, changes, holds, selects = ALL }: FollowerRecord): Broken[] {
  const broken: Broken[] = []
  const add = (promise: WatchPromise, why: string): number => broken.push({ promise, why: `${name}: ${why}` })
  const written = new Map(log.map(change => [change.revision, change]))
  const copy = new Map<string, number>()
  for (const { type, key, revision, content, previous } of changes) {
    const before = copy.get(key)
    if (before !== undefined && revision < before) {
      add('ordered', `${key} goes back from ${before} to ${revision}`)
      continue
    }
    if (type === 'delete') {
      if (before === undefined) add('unique', `${key} goes twice`)
      copy.delete(key)
      continue
    }
    const change = written.get(revision)
    if (before === revision) add('unique', `${key} is told twice as of ${revision}`)
    if (previous !== before)
      add('gapless', `${key} replaces ${previous ?? 'nothing'}, and ${before ?? 'nothing'} was told`)
    if (change?.key !== key || change.content !== content) add('atomic', `${key} was never so as at ${revision}`)
    else if (change.type === 'delete' || !selects(change))
      add('filtered', `${key} is not of the selection at ${revision}`)
    copy.set(key, revision)
  }
  const held = new Map(holds.map(({ key, revision }) => [key, revision]))
  if (!sameVersions(copy, held)) add('atomic', 'what it told is not what it holds')
  const truth = stateAt(log, Number.POSITIVE_INFINITY, selects)
  if (!sameVersions(new Map([...truth].map(([key, { revision }]) => [key, revision])), held))
    add('gapless', 'what it holds is not what there is')
  return broken
}

function sameVersions(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([key, revision]) => other.get(key) === revision)
}
