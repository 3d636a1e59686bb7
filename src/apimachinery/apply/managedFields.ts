/**
 * Ownership of fields, kept up to date: `trackInSteps` for creates, updates and patches, `applyInSteps` for apply. A claim has the API
 * version of the request that made it. Versions of a kind with the same field structure need no conversion: their sets are compared as they
 * are. For others, `inVersion` brings the objects into the version of the claim.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
import { equalInSteps } from '../equalInSteps.ts'
import { statusError } from '../errors.ts'
import { type GroupResource, isRecord, type KubeObject, type ManagedFieldsEntry, parseApiVersion } from '../object.ts'
import { APPLIED_FIELDS_LIMIT, hasMoreValues, tooLarge } from '../objectSize.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { equalJson } from '../values.ts'
import { isSame } from './compare.ts'
import { type Conflict, conflictError } from './conflicts.ts'
import {
  countPaths,
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  intersection,
  isEmptySet,
  recursiveDifference,
  setOfField,
  union,
  unionAll,
} from './fieldSet.ts'
import { KUBECTL, lastAppliedFields, withLastApplied } from './lastApplied.ts'
import { decodeInSteps, encodeManagers, type Manager, sameManager, withSet } from './managers.ts'
import { ownChanges } from './ownChanges.ts'
import { prune } from './prune.ts'
import { type Comparison, compare, compareInSteps, fieldSetOf, fitToSchema, merge, typeErrors } from './typed.ts'

/** Fields and elements of what is compared at once. */
const SMALL = 1000

/** A kind in one of its versions. */
export interface VersionForm {
  schema: Schema | undefined
  /** A copy, whatever version it comes in. */
  object(object: KubeObject): KubeObject
}

interface TrackOptions {
  schema: Schema | undefined
  manager: string
  apiVersion: string
  subresource?: string
  /** RFC 3339, whole seconds: the time of entries that this request changes. */
  now: string
  /** Paths that this request cannot write (`['status']` on the main resource); nobody comes to own them through it. */
  ignored?: readonly (readonly string[])[]
  /** For kinds whose versions differ: `undefined` for one that is not served, whose claims then end. */
  inVersion?: ((apiVersion: string) => VersionForm | undefined) | undefined
}

interface TrackUpdateOptions extends TrackOptions {
  /** `undefined` at creation. */
  before: KubeObject | undefined
  after: KubeObject
  /**
   * Content of an empty object of the kind, for kinds whose structs are always there: at creation no manager comes to own those structs
   * themselves. Default: none.
   */
  zero?: Record<string, unknown> | undefined
  /** Both are compared at once, whoever waits. */
  isSmall?: boolean
}

interface ApplyOptions extends TrackOptions {
  live: KubeObject | undefined
  applied: KubeObject
  /** Take conflicting fields over from their managers. */
  force: boolean
  gr: GroupResource
  /** `applied` as its schema is to judge it. Default: as it is. */
  readable?: KubeObject
}

/**
 * The entries after a create, update or patch; `undefined` when there are none. A changed or new field belongs to the manager alone, a
 * removed one to none. `after.metadata.managedFields` is where the client may edit them: it is the base when valid, `[{}]` resets, absent
 * keeps those of `before`. An existing object without entries gets none: recording begins at creation or with the first apply. Never
 * throws: claims that cannot be read are dropped.
 */
export function* trackInSteps(o: TrackUpdateOptions): Steps<ManagedFieldsEntry[] | undefined> {
  const base = yield* baseEntries(o)
  // An object that nobody was recorded for stays unrecorded until somebody applies.
  if (o.before !== undefined && base.entries.length === 0) return undefined
  yield
  const before = o.before ?? o.zero ?? {}
  const comparison = o.isSmall ? compare(before, o.after, o.schema) : yield* compareInSteps(before, o.after, o.schema)
  yield
  if (isUnchanged(comparison)) {
    const kept = o.before?.metadata.managedFields
    if (kept !== undefined && kept.length > 0 && (yield* equals(base.entries, kept, o))) return kept
    return yield* encodeManagers(yield* base.managers())
  }
  const ignored = ignoredSet(o.ignored)
  const gained = recursiveDifference(union(comparison.modified, comparison.added), ignored)
  const own = ownId(o, 'Update')
  if (base.isKept && onlyChanges(comparison) && !isEmptySet(gained) && o.inVersion === undefined) {
    const entries = ownChanges(base.entries, own, gained, o.now)
    if (entries !== undefined) return entries
  }
  const known = yield* base.managers()
  yield
  if (known.length === 0) return yield* encodeManagers(isEmptySet(gained) ? [] : [{ ...own, time: o.now, set: gained }])
  const lost = recursiveDifference(union(gained, comparison.removed), ignored)
  const managers: Manager[] = []
  const lostIn = perVersion(o, lost, form => {
    const there = compare(o.before ? form.object(o.before) : {}, form.object(o.after), form.schema)
    return recursiveDifference(union(union(there.modified, there.added), there.removed), ignored)
  })
  let mine = EMPTY_SET
  for (const manager of known) {
    const taken = lostIn(manager)
    if (taken === undefined) continue
    const rest = withSet(manager, difference(manager.set, taken))
    if (sameManager(manager, own)) mine = rest.set
    if (!sameManager(manager, own)) managers.push(rest)
    else if (isEmptySet(gained)) managers.push(rest)
  }
  if (!isEmptySet(gained)) managers.push({ ...own, time: o.now, set: union(mine, gained) })
  yield
  return yield* encodeManagers(managers)
}

/**
 * The object after applying a configuration, its managedFields updated; independent of the inputs. Fields that the manager
 * applied before and now leaves out are removed when no other manager owns them. Equal to `live` when nothing changes.
 * @throws StatusError BadRequest for a configuration that cannot be applied, RequestEntityTooLarge for one of too many fields,
 * Conflict when others own what it changes
 */
export function* applyInSteps(o: ApplyOptions): Steps<KubeObject> {
  checkConfiguration(o)
  yield
  const ignored = ignoredSet(o.ignored)
  const set = recursiveDifference(fieldSetOf(o.applied, o.schema), ignored)
  if (countPaths(set) > APPLIED_FIELDS_LIMIT)
    throw tooLarge(
      `an apply may claim ${APPLIED_FIELDS_LIMIT} fields at most: split the object, or use an update or a patch`,
    )
  yield
  const managers = yield* liveManagers(o)
  yield
  const { managedFields: _entries, ...liveMetadata } = o.live?.metadata ?? {}
  const live = o.live === undefined ? undefined : { ...o.live, metadata: liveMetadata }

  const own = ownId(o, 'Apply')
  const last = managers.find(manager => sameManager(manager, own))
  const others = managers.filter(manager => manager !== last)

  const merged = merge(live, o.applied, o.schema)
  yield
  const [kin, strangers] = byVersion(o, others)
  const owned = unionAll([set, ...kin.map(manager => manager.set)])
  yield
  const pruned = prune({ merged, last: last?.set ?? EMPTY_SET, owned, schema: o.schema }) as KubeObject
  const result = pruned === merged ? pruned : withFieldsOf(strangers, o, merged as KubeObject, pruned)

  yield
  const changesOf = (before: KubeObject | undefined, after: KubeObject, schema: Schema | undefined) => {
    const { modified, added, removed } = compare(before ?? {}, after, schema)
    const written = recursiveDifference(union(modified, added), ignored)
    return { written, lost: union(written, recursiveDifference(removed, ignored)) }
  }
  const changesIn = perVersion(o, changesOf(live, result, o.schema), form =>
    changesOf(live && form.object(live), form.object(result), form.schema),
  )
  yield
  if (!o.force) checkConflicts(o, others, manager => changesIn(manager)?.written ?? EMPTY_SET)
  const rest = others.flatMap(manager => {
    const changes = changesIn(manager)
    return changes === undefined ? [] : [withSet(manager, difference(manager.set, changes.lost))]
  })

  yield
  if (o.manager === KUBECTL && live !== undefined) withLastApplied(result, o.applied)
  const unchanged = live !== undefined && (yield* equals(live, result, { isSmall: !hasMoreValues(live, SMALL) }))
  yield
  const keepsClaim = last !== undefined && equalSets(last.set, set) && last.apiVersion === o.apiVersion
  // who applies what is there already has no time of their own
  const mine: Manager = unchanged && keepsClaim ? last : { ...own, time: unchanged ? last?.time : o.now, set }
  const entries = yield* encodeManagers([...rest, mine])
  if (entries !== undefined) result.metadata.managedFields = entries
  return result
}

/** Facts about the version of a manager's claim, worked out once for each; `undefined` for unknown versions. */
function perVersion<T>(
  { apiVersion, inVersion }: TrackOptions,
  here: T,
  make: (form: VersionForm) => T,
): (manager: Manager) => T | undefined {
  if (inVersion === undefined) return () => here
  const known = new Map<string, T | undefined>([[apiVersion, here]])
  return manager => {
    if (!known.has(manager.apiVersion)) {
      const form = inVersion(manager.apiVersion)
      known.set(manager.apiVersion, form && make(form))
    }
    return known.get(manager.apiVersion)
  }
}

/** Managers whose claims have the version of this request, and the others. */
function byVersion(o: TrackOptions, managers: readonly Manager[]): [kin: Manager[], strangers: Manager[]] {
  const isKin = (manager: Manager): boolean => o.inVersion === undefined || manager.apiVersion === o.apiVersion
  return [managers.filter(isKin), managers.filter(manager => !isKin(manager))]
}

/** `pruned` with what was taken away from `merged` although managers in other versions own it. */
function withFieldsOf(
  strangers: readonly Manager[],
  o: ApplyOptions,
  merged: KubeObject,
  pruned: KubeObject,
): KubeObject {
  const home = o.inVersion?.(o.apiVersion)
  let result = pruned
  for (const apiVersion of new Set(strangers.map(manager => manager.apiVersion))) {
    const form = o.inVersion?.(apiVersion)
    if (form === undefined || home === undefined) continue
    const { schema } = form
    const whole = form.object(merged)
    const left = fieldSetOf(form.object(result), schema)
    const own = strangers.filter(manager => manager.apiVersion === apiVersion)
    const owned = unionAll([left, ...own.map(manager => manager.set)])
    const last = difference(fieldSetOf(whole, schema), left)
    result = home.object(prune({ merged: whole, last, owned, schema }) as KubeObject)
  }
  return result
}

function checkConfiguration({ applied, schema, apiVersion, readable = applied }: ApplyOptions): void {
  if (applied.metadata.managedFields !== undefined && applied.metadata.managedFields !== null)
    throw statusError.badRequest('metadata.managedFields must be nil')
  if (applied.apiVersion !== apiVersion)
    throw statusError.badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${apiVersion}`,
    )
  const errors = typeErrors(readable, schema)
  if (errors.length === 0) return
  const text = errors.length === 1 ? errors[0] : ['errors:', ...errors.map(error => `  ${error}`)].join('\n')
  throw statusError.badRequest(`failed to create typed patch object (${describe(applied)}): ${text}`)
}

/** `default/web; apps/v1, Kind=Deployment` */
function describe({ apiVersion, kind, metadata }: KubeObject): string {
  const gv = parseApiVersion(apiVersion)
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${gv?.group ?? ''}/${gv?.version ?? ''}, Kind=${kind}`
}

/** The live object's managers; an object that nobody was recorded for belongs to `before-first-apply`. */
function* liveManagers({ live, schema, apiVersion, now, ignored, inVersion }: ApplyOptions): Steps<Manager[]> {
  if (live === undefined) return []
  const managers = yield* decodeOrNone(live.metadata.managedFields)
  const schemaOf = (version: string): Schema | undefined =>
    inVersion === undefined || version === apiVersion ? schema : inVersion(version)?.schema
  if (managers.length > 0)
    return managers.map(manager => withSet(manager, fitToSchema(manager.set, schemaOf(manager.apiVersion))))
  const set = recursiveDifference(compare({}, live, schema).added, ignoredSet(ignored))
  return [{ name: 'before-first-apply', operation: 'Update', apiVersion, subresource: '', time: now, set }]
}

function checkConflicts(o: ApplyOptions, others: readonly Manager[], writtenIn: (manager: Manager) => FieldSet): void {
  const conflicts: Conflict[] = []
  for (const manager of others) {
    const set = intersection(manager.set, writtenIn(manager))
    if (!isEmptySet(set)) conflicts.push({ manager, set })
  }
  if (conflicts.length === 0) return
  // `kubectl apply --server-side` may take over what `kubectl apply` wrote before: the annotation says what that was.
  const allowed = o.manager === KUBECTL ? lastAppliedFields(o.live, o.schema) : EMPTY_SET
  const left = conflicts
    .map(({ manager, set }) => ({ manager, set: difference(set, allowed) }))
    .filter(({ set }) => !isEmptySet(set))
  if (left.length > 0) throw conflictError(left)
}

function isUnchanged(comparison: Comparison): boolean {
  return (
    isSame(comparison) ||
    (isEmptySet(comparison.added) && isEmptySet(comparison.modified) && isEmptySet(comparison.removed))
  )
}

function onlyChanges({ added, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(removed)
}

interface Base {
  /** As they stand on the object that is there. */
  readonly isKept: boolean
  entries: readonly ManagedFieldsEntry[]
  managers(): Steps<Manager[]>
}

/** Small objects are compared at once. */
function* equals(a: object, b: object, { isSmall }: { isSmall?: boolean | undefined }): Steps<boolean> {
  return isSmall ? equalJson(a, b) : yield* equalInSteps(a, b)
}

function* baseEntries({ before, after, subresource, isSmall }: TrackUpdateOptions): Steps<Base> {
  const live = before?.metadata.managedFields ?? []
  const sent = after.metadata.managedFields ?? []
  const kept: Base = { isKept: true, entries: live, managers: () => decodeOrNone(live) }
  if (subresource || sent.length === 0 || sent === live || (yield* equals(sent, live, { isSmall }))) return kept
  if (sent.length === 1 && isRecord(sent[0]) && Object.keys(sent[0]).length === 0)
    return { isKept: false, entries: [], managers: () => done([]) }
  const managers = yield* decodeOrNone(sent)
  return managers.length === 0 ? kept : { isKept: false, entries: sent, managers: () => done(managers) }
}

// biome-ignore lint/correctness/useYield: steps that are over
function* done<T>(value: T): Steps<T> {
  return value
}

/** One claim that cannot be read makes the whole list unreadable, as upstream has it. */
function* decodeOrNone(entries: unknown): Steps<Manager[]> {
  if (!Array.isArray(entries) || !entries.every(isRecord)) return []
  try {
    return yield* decodeInSteps(entries as ManagedFieldsEntry[])
  } catch {
    return []
  }
}

function ownId(o: TrackOptions, operation: 'Apply' | 'Update'): Omit<Manager, 'set' | 'time'> {
  return {
    name: o.manager === '' ? 'unknown' : o.manager,
    operation,
    apiVersion: o.apiVersion,
    subresource: o.subresource ?? '',
  }
}

function ignoredSet(paths: TrackOptions['ignored']): FieldSet {
  if (paths === undefined || paths.length === 0) return EMPTY_SET
  return paths.reduce<FieldSet>((set, path) => union(set, setOfField(...path)), EMPTY_SET)
}
