/**
 * What would change where if objects of a workload space were written: the translator's own selection, consent, ownership,
 * customization and projection, asked about objects that are not stored. Writes nothing and tells nobody.
 *
 * Only the objects of the preview are imagined, each with the others' labels of Namespaces and Customizers, and what its
 * EdgePlacements and Customizers move: the rest of the world is as it is. Where a placement leads is what its slices say, or the where-resolver of one whose location
 * selectors would be others.
 */
import { randomBytes } from 'node:crypto'
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { jsonSize } from '../../apimachinery/jsonSize.ts'
import type { LiveAsker } from '../../apimachinery/liveObjects.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS } from '../../apimachinery/placement.ts'
import {
  MAX_PREVIEW_DESTINATIONS,
  MAX_PREVIEW_WORK,
  type MovedCopies,
  type ObjectPreview,
  type PreviewedObject,
  type PreviewGroup,
  type PreviewReceiver,
  type PreviewRequest,
} from '../../apimachinery/placementPreview.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Allowance, Told } from './allowance.ts'
import type { Brake } from './brake.ts'
import { wantsExpansion } from './customize.ts'
import { isSystemObject, reachOf } from './eligibility.ts'
import { type ImaginedPlacementsDeps, imaginedPlacements } from './imaginedPlacements.ts'
import { leftThere } from './leftThere.ts'
import type { Mailbox } from './mailbox.ts'
import { namespaceKey, objectKey, resourceKey } from './names.ts'
import { ObjectCache } from './objectCache.ts'
import { byRight, type OwnershipRules } from './ownership.ts'
import type { Pauses } from './pauses.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { byAge, type Source } from './placementProduct.ts'
import { downsyncs } from './placementSpec.ts'
import { asksToSecure, withoutPodSecurity } from './podSecurity.ts'
import { PreviewChecks } from './previewChecks.ts'
import { PreviewDisclosure } from './previewDisclosure.ts'
import { type Finding, PreviewGroups } from './previewGroups.ts'
import { PreviewLive } from './previewLive.ts'
import { type Moves, movesOf } from './previewMoves.ts'
import { totalsOf } from './previewTotals.ts'
import { unseen } from './previewUnseen.ts'
import { createdCopy, project, updatedCopy } from './projection.ts'
import { SourceReader, type SourceReaderDeps } from './sourceReader.ts'
import { ownersThere } from './travellingOwners.ts'
import type { Destination } from './ways.ts'
import type { ObjectFact } from './workload.ts'
import { factOf } from './workloads.ts'

export interface PlacementPreviewsDeps {
  client: Client
  join: PlacementJoin
  turns: WorkTurns
  consents: { allowance(space: string, way: Destination): Allowance }
  where: ImaginedPlacementsDeps['where']
  now: () => number
  live: LiveAsker | undefined
  brake: Pick<Brake, 'wouldHold'>
  rules: OwnershipRules
  pauses: Pick<Pauses, 'holdsCopy' | 'locationOf'>
  isLeaving: (mailbox: string) => boolean
  wouldKeepOut: (mailbox: Mailbox, key: string) => Told | undefined
  mailbox: (name: string) => Mailbox | undefined
  /** Whether it is known where an object goes. */
  knows: (space: string, key: string) => boolean
  knowsMailbox: (name: string) => boolean
  location: SourceReaderDeps['location']
  customizer: SourceReaderDeps['customizer']
}

/** Bytes that are compared for a unit of work. */
const COMPARED = 50
/** To know whether it may be shown, an object is customized without what may not be told, and so is what is there. */
const CUSTOMIZED = 3

/** An object that is imagined as written. */
interface Imagined extends PreviewedObject {
  readonly space: string
  readonly fact: ObjectFact
}

/** What is decided once for all objects of a preview. */
interface Scene {
  readonly request: PreviewRequest
  readonly moves: Moves
  readonly totals: ReadonlyMap<PreviewedObject, MovedCopies>
  /** With the placements as they would be. */
  readonly join: Pick<PlacementJoin, 'spec' | 'workload'>
  readonly sources: SourceReader
  readonly disclosure: PreviewDisclosure
  /** References of Customizers that are imagined. */
  readonly customizers: ReadonlySet<string>
  /** Labels of Namespaces that are imagined, by name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly groups: PreviewGroups
  readonly checks: PreviewChecks
  /** Absent: nobody asks what clusters hold. */
  readonly live: PreviewLive | undefined
  /** Destinations that may still be looked at. */
  left: number
  /** Units of work for that. */
  workLeft: number
}

type Going = ReadonlyMap<string, ReadonlySet<string>>

interface Leaving {
  readonly imagined: Imagined
  readonly way: Destination
  readonly findings: Finding
  readonly mailbox: string
}

export class PlacementPreviews implements PreviewReceiver {
  readonly #deps: PlacementPreviewsDeps

  constructor(deps: PlacementPreviewsDeps) {
    this.#deps = deps
  }

  async preview(request: PreviewRequest): Promise<ObjectPreview[]> {
    const { join } = this.#deps
    const { space, objects, work } = request
    const { mailbox, brake, pauses, isLeaving } = this.#deps
    const placements = await imaginedPlacements(this.#deps, request)
    const moves = await inSlices(movesOf(objects, placements, { workload: join.workload(space) }), work)
    const keeps = (name: string, key: string): boolean =>
      isLeaving(name) || pauses.locationOf(name) !== undefined || pauses.holdsCopy(name, key, space)
    const counted = { join, mailbox, keeps, wouldHold: (going: Going) => brake.wouldHold(space, going) }
    const totals = await inSlices(totalsOf(counted, space, moves), work)
    const scene = this.#scene(request, moves, totals)
    const previews: ObjectPreview[] = []
    for (const one of objects) previews.push(await this.#previewOne(scene, one))
    for (const fact of moves.moved.values()) {
      const told = await this.#previewMoved(scene, fact)
      if (told) previews.push(told)
    }
    return previews
  }

  /** An object that is as it is, and goes elsewhere. Its content is for those who may get it. */
  async #previewMoved(scene: Scene, fact: ObjectFact): Promise<ObjectPreview | undefined> {
    const { space, mayGet } = scene.request
    const object = await scene.sources.read(space, fact)
    if (!object) return undefined
    const { resource, namespace, name, customizer } = fact
    const findings = scene.groups.begin(object)
    const isSeen = await mayGet?.(resource, { namespace, name })
    const told = isSeen ? findings : unseen(findings, scene.customizers.has(customizer))
    return { ...(await this.#previewOne(scene, { resource, object, operation: 'unchanged' }, told)), isMoved: true }
  }

  #scene(request: PreviewRequest, moves: Moves, totals: Scene['totals']): Scene {
    const { client, turns, location, customizer } = this.#deps
    const customizers = new Map<string, KubeObject>()
    const namespaces = new Map<string, Readonly<Record<string, string>>>()
    for (const { resource, object } of request.objects) {
      const { name = '', namespace = '', labels = {} } = object.metadata
      if (resourceKey(resource) === resourceKey(CUSTOMIZERS)) customizers.set(`${namespace}/${name}`, object)
      if (objectKey(resource, namespace, name) === namespaceKey(name)) namespaces.set(name, labels)
    }
    const deps: SourceReaderDeps = {
      client,
      cache: new ObjectCache(1),
      // whoever asked may have gone
      turns: { begin: owner => request.work ?? turns.begin(owner) },
      location,
      customizer: (space, reference) => customizers.get(reference) ?? customizer(space, reference),
    }
    const sources = new SourceReader(deps)
    const disclosure = new PreviewDisclosure({ ...deps, storedCustomizer: customizer, join: this.#deps.join })
    const scene: Scene = {
      request,
      moves,
      totals,
      join: imaginedJoin(this.#deps.join, moves.placements),
      sources,
      disclosure,
      customizers: new Set(customizers.keys()),
      namespaces,
      groups: new PreviewGroups(),
      checks: new PreviewChecks(client, units => {
        scene.workLeft -= units
      }),
      live:
        request.live &&
        new PreviewLive(this.#deps, {
          wish: request.live,
          hashKey: randomBytes(32).toString('hex'),
          gone: request.gone,
        }),
      left: MAX_PREVIEW_DESTINATIONS,
      workLeft: MAX_PREVIEW_WORK,
    }
    return scene
  }

  async #previewOne(
    scene: Scene,
    one: PreviewedObject,
    findings = scene.groups.begin(one.object),
  ): Promise<ObjectPreview> {
    const { space } = scene.request
    const { resource, object, operation } = one
    const { name = '', namespace = '' } = object.metadata
    const key = objectKey(resource, namespace, name)
    if (!this.#deps.knows(space, key)) {
      throw new StatusError('ServiceUnavailable', 'it is not known yet where objects of this space go; try again')
    }
    // no revision of the store, so that nothing that is remembered of a stored object counts for it
    const fact = factOf({ object, resource, namespace, name, revision: -1 }, key)
    const about = {
      group: resource.group,
      resource: resource.resource,
      kind: object.kind,
      ...(namespace !== '' && { namespace }),
      name,
      operation,
    }
    const message = staysHome(one, scene)
    const unknown = unknownOf(one, scene.moves, this.#deps.join.isWorkloadSpace(space))
    const moves = scene.totals.get(one)
    const imagined: Imagined = { ...one, space, fact }
    const placements = message === undefined ? this.#selecting(scene, imagined) : []
    const wanted = this.#wanted(scene, imagined, placements, findings)
    const lookWork = jsonSize(object) / COMPARED
    for (const [mailbox, source] of wanted) {
      scene.workLeft -= lookWork
      if (scene.left-- <= 0) findings.add('Unknown', source.location, TOO_MANY)
      else if (scene.workLeft < 0) findings.add('Unknown', source.location, TOO_MUCH)
      else await this.#look(scene, { imagined, source, findings, mailbox })
      if (scene.request.work?.due) await scene.request.work.rest()
    }
    for (const [mailbox, way] of this.#deps.join.destinationsOf(space, key)) {
      if (!wanted.has(mailbox)) await this.#leave(scene, { imagined, way, findings, mailbox })
      if (scene.request.work?.due) await scene.request.work.rest()
    }
    const live = scene.live && !scene.moves.moved.has(key) ? await this.#live(scene, scene.live, imagined) : undefined
    return {
      ...about,
      placements,
      groups: findings.groups(),
      ...(live && { live }),
      ...(message !== undefined && { message }),
      ...(moves && { moves }),
      ...(unknown !== undefined && { unknown }),
    }
  }

  /** What clusters hold of it now. */
  async #live({ groups, disclosure }: Scene, live: PreviewLive, imagined: Imagined): Promise<PreviewGroup[]> {
    const { space, fact, object } = imagined
    const findings = groups.begin(object)
    const ways = this.#deps.join.destinationsOf(space, fact.key)
    const shows = async (name: string, location: Destination): Promise<boolean> => {
      const mailbox = this.#deps.mailbox(name)
      const copy = mailbox && (await this.#copyIn(mailbox, fact.key, imagined))
      return copy !== undefined && (await disclosure.showsCopy({ space, fact, location }, copy))
    }
    await live.find({ space, fact, object, ways, shows }, findings)
    return findings.groups()
  }

  /** Names of the placements that would select an object, sorted. */
  #selecting({ request, moves, namespaces }: Scene, { space, fact }: Imagined): string[] {
    const { join } = this.#deps
    const workload = join.workload(space)
    const labels = namespaces.get(fact.namespace) ?? workload.get(namespaceKey(fact.namespace))?.labels
    const others = request.objects.map(({ resource, object: { metadata } }) => ({
      resource,
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
    }))
    const selects = (name: string): boolean => {
      const spec = moves.placements.get(name)?.spec ?? join.spec(space, name)!
      if (downsyncs(spec, fact, labels)) return true
      return fact.defines.some(defined => {
        const kind = resourceKey(defined)
        if (workload.uses(name, kind)) return true
        return others.some(other => resourceKey(other.resource) === kind && downsyncs(spec, other, undefined))
      })
    }
    return [...new Set([...join.placementNames(space), ...moves.placements.keys()])].filter(selects).sort()
  }

  /** Where it would go, by mailbox; where grants do not let it is told. */
  #wanted(
    { moves }: Scene,
    { space, fact }: Imagined,
    placements: readonly string[],
    findings: Finding,
  ): Map<string, Source> {
    const { join, consents } = this.#deps
    const wanted = new Map<string, Source>()
    const refused = new Map<string, { way: Destination; told: Told }>()
    for (const name of placements) {
      const imagined = moves.placements.get(name)
      const spec = imagined?.spec ?? join.spec(space, name)!
      for (const [mailbox, ways] of (imagined ? imagined.ways : join.waysOf(space, name)) ?? []) {
        const location = join.wayOn({ space, spec, ways }, fact)
        if (!location) {
          const told = consents.allowance(space, ways[0]!).refusal({ ...fact.resource, ...nameOf(fact) }) ?? CARRIED_UP
          refused.set(mailbox, { way: ways[0]!, told })
          continue
        }
        const since = imagined?.created ?? join.createdAt(space, name)
        const old = wanted.get(mailbox)
        const source: Source = {
          space,
          fact,
          location: old?.location ?? location,
          placements: [...(old?.placements ?? []), name],
          since: old && old.since < since ? old.since : since,
          implied: false,
        }
        wanted.set(mailbox, source)
      }
    }
    for (const [mailbox, { way, told }] of refused) if (!wanted.has(mailbox)) findings.add('NotPermitted', way, told)
    return wanted
  }

  async #look(
    scene: Scene,
    {
      imagined,
      source,
      findings,
      mailbox: name,
    }: { imagined: Imagined; source: Source; findings: Finding; mailbox: string },
  ): Promise<void> {
    const { sources, disclosure } = scene
    const { join, rules, pauses } = this.#deps
    const then = scene.join
    const { space, fact, object } = imagined
    const { location } = source
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.synced || !this.#deps.knowsMailbox(name)) return findings.add('Unknown', location, NOT_READY)
    if (this.#deps.isLeaving(name)) return findings.add('Unchanged', location, LEAVING)
    if (pauses.locationOf(name) !== undefined) return findings.add('Paused', location, LOCATION_PAUSED)
    const closed = this.#deps.wouldKeepOut(mailbox, fact.key)
    if (closed) return findings.add('NotPermitted', location, closed)
    const others = join.sourcesOf(name, fact.key).filter(claim => claim.space !== space)
    const recorded = mailbox.ownersOf(fact.key)
    const [first] = byRight([...others, source].sort(byAge), { mailbox: name, recorded, rules })
    if (first !== source) return findings.add('Conflict', location, conflict(first?.space))
    if (fact.isPaused === true || source.placements.every(each => then.spec(space, each)?.isPaused))
      return findings.add('Paused', location, PAUSED)
    const at = { space, fact, location }
    const made = await sources.customize(at, object)
    scene.workLeft -= CUSTOMIZED * made.work
    const { object: customized, faults } = made
    const isShown = await disclosure.showsMade(at, object, made)
    if (faults.length > 0) return findings.add('Invalid', location, isShown ? invalid(faults.join('; ')) : INVALID)
    const secures = this.#deps.consents.allowance(space, location).clusterScoped
    const secured = asksToSecure(source, object) && !secures ? withoutPodSecurity(customized) : customized
    const preserve = source.placements.some(each => then.spec(space, each)?.preserves)
    const left = leftThere(then, source)
    const owners = ownersThere(join, name, source, object)
    const projection = project(space, secured, { preserve, adopt: join.adopts(source), left, owners })
    const known = mailbox.copies.get(fact.key)
    const copy = known && (await this.#copyIn(mailbox, fact.key, imagined))
    const whole = createdCopy(projection)
    const after = copy && updatedCopy(projection, copy)
    if (fact.customized && (!copy || after)) {
      const refused = await scene.checks.refusal(mailbox, { resource: fact.resource, whole, before: copy, after })
      if (refused) return findings.add('Invalid', location, isShown ? refused : REFUSED)
    }
    if (!copy)
      return isShown
        ? findings.add('Create', location, undefined, { after: whole })
        : findings.add('Create', location, HIDDEN)
    const showsThere = await disclosure.showsCopy(at, copy)
    // whether a guess is right is nobody's business either: that is told only of what says the same as the stored object
    if (!(isShown && showsThere) && !(await this.#saysAsStored(scene, imagined)))
      return findings.add('Update', location, MAY_BE_HIDDEN)
    if (!after) return findings.add('Unchanged', location)
    // what another space says of the copy is nobody else's business
    if (!isShown) return findings.add('Update', location, HIDDEN)
    if (!recorded.includes(space)) return findings.add('Update', location, TAKEN_OVER, { after: whole })
    findings.add('Update', location, showsThere ? undefined : HIDDEN, showsThere ? { before: copy, after } : {})
  }

  /** Whether nothing that customization goes by is another than what is stored, nor what it is made of. */
  async #saysAsStored({ sources, customizers }: Scene, { space, fact, object }: Imagined): Promise<boolean> {
    const known = this.#deps.join.fact(space, fact.key)
    const stored = known && (await sources.read(space, known))
    if (!stored || customizers.has(fact.customizer) || known.customizer !== fact.customizer) return false
    if (wantsExpansion(stored) !== wantsExpansion(object)) return false
    return updatedCopy(project(space, object), createdCopy(project(space, stored))) === undefined
  }

  /** Where an object is and would go no more. */
  async #leave({ disclosure }: Scene, { imagined, way, findings, mailbox: name }: Leaving): Promise<void> {
    const { space, fact } = imagined
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.copies.has(fact.key) || !mailbox.ownersOf(fact.key).includes(space)) return
    if (this.#deps.isLeaving(name)) return
    const isPaused =
      this.#deps.pauses.locationOf(name) !== undefined || this.#deps.pauses.holdsCopy(name, fact.key, space)
    if (isPaused) return findings.add('Paused', way, PAUSED)
    const before = await this.#copyIn(mailbox, fact.key, imagined)
    if (!before) return
    if (await disclosure.showsCopy({ space, fact, location: way }, before))
      findings.add('Delete', way, undefined, { before })
    else findings.add('Delete', way, HIDDEN)
  }

  async #copyIn(mailbox: Mailbox, key: string, { fact }: Imagined): Promise<KubeObject | undefined> {
    const resource = mailbox.copies.get(key)?.resource ?? fact.resource
    const api = this.#deps.client.in(mailbox.space)
    try {
      return await unlessGone(
        api.get(resource, { name: fact.name, ...(fact.namespace !== '' && { namespace: fact.namespace }) }),
      )
    } catch (error) {
      // the mailbox went meanwhile
      if (isStatusError(error, 'Forbidden')) return undefined
      throw error
    }
  }
}

function nameOf({ namespace, name }: ObjectFact) {
  return { namespace, name }
}

/** The join, with the placements as they would be. */
function imaginedJoin(
  join: Pick<PlacementJoin, 'spec' | 'workload'>,
  placements: Moves['placements'],
): Pick<PlacementJoin, 'spec' | 'workload'> {
  return {
    spec: (space, name) => placements.get(name)?.spec ?? join.spec(space, name),
    workload: space => join.workload(space),
  }
}

/** What is not known of what an EdgePlacement moves. */
function unknownOf(
  { resource, object }: PreviewedObject,
  { placements }: Moves,
  isFollowed: boolean,
): string | undefined {
  if (resourceKey(resource) !== resourceKey(EDGE_PLACEMENTS)) return undefined
  const placement = placements.get(object.metadata.name ?? '')
  if (placement && !placement.ways) return UNKNOWN_WAYS
  if (!isFollowed && placement && placement.ways!.size > 0 && placement.spec.downsync.length > 0) return NOT_FOLLOWED
  return undefined
}

const UNKNOWN_WAYS = 'it is not known yet to which locations it would lead, so what that moves is not known; try again'
const NOT_FOLLOWED =
  'this space has no EdgePlacement yet, so its objects are not followed: what of those that are stored it would place is not known; preview them beside it'

function staysHome(one: PreviewedObject, { moves: { counts, moved } }: Scene): string | undefined {
  const { resource, object } = one
  const count = counts.get(one)
  if (count !== undefined) {
    const shown = count > moved.size ? `; ${moved.size} are shown` : ''
    return `moves ${count} other ${count === 1 ? 'object' : 'objects'} of this space${shown}`
  }
  if (reachOf(resource) === 'none') return `objects of kind ${object.kind} travel nowhere`
  return isSystemObject(resource, object) ? 'it is for the space itself, and travels nowhere' : undefined
}

function conflict(owner: string | undefined): Told {
  return {
    reason: 'ObjectConflict',
    message: `space ${JSON.stringify(owner)} owns the object of that name there; nothing of this one arrives until its claim ends`,
  }
}

function invalid(message: string): Told {
  return { reason: 'CustomizationError', message }
}

const INVALID = invalid('it cannot be customized as it asks')
const REFUSED: Told = {
  reason: 'Refused',
  message: 'the copy would be refused: what the location makes of it is not valid',
}
const HIDDEN: Told = {
  reason: 'NotShown',
  message:
    'annotations of the location are parameters of it, which are not told to this space: what would change is not shown',
}
const MAY_BE_HIDDEN: Told = {
  reason: 'NotShown',
  message:
    'annotations of the location are parameters of it, which are not told to this space: whether anything would change, and what, is not shown',
}
const TOO_MANY: Told = {
  reason: 'TooMany',
  message: `more than ${MAX_PREVIEW_DESTINATIONS} clusters are not looked at`,
}
const TOO_MUCH: Told = {
  reason: 'TooMuchWork',
  message: 'to look at more clusters is too much work: preview fewer, smaller or less customized objects at a time',
}
const NOT_READY: Told = { reason: 'NotReady', message: 'what is in the cluster is not known yet' }
const LEAVING: Told = { reason: 'Leaving', message: 'the cluster is leaving; what it holds stays as it is' }
const LOCATION_PAUSED: Told = { reason: 'LocationPaused', message: 'the location is paused' }
const PAUSED: Told = { reason: 'Paused', message: 'the object, or all placements of it, are paused' }
const CARRIED_UP: Told = { reason: 'CarriedUp', message: 'an upsync set names it, so it is born in the cluster' }
const TAKEN_OVER: Told = { reason: 'TakenOver', message: 'the copy of another space is taken over' }
