/**
 * Effects of a write of workload objects: the translator's own selection, consent, ownership, customization and projection, over objects
 * that are not stored. Writes and notifies nothing.
 *
 * Only the objects of the preview are imagined, with the moves of its EdgePlacements and Customizers. Each sees the others' labels of
 * Namespaces and Customizers. The rest of the world is as it is. A placement leads where its slices lead; the where-resolver answers for
 * one with other location selectors.
 */
import { randomBytes } from 'node:crypto'
import { StatusError } from '../../../apimachinery/errors.ts'
import { JsonDigests } from '../../../apimachinery/jsonDigests.ts'
import { jsonSizeInSteps } from '../../../apimachinery/jsonSize.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Clock } from '../../../client/clock.ts'
import type { Logger } from '../../../client/logger.ts'
import type { LiveAsker } from '../../../placement/desks/liveObjects.ts'
import {
  MAX_PREVIEW_DESTINATIONS,
  MAX_PREVIEW_PAIRS,
  MAX_PREVIEW_READ,
  MAX_PREVIEW_WORK,
  type ObjectPreview,
  type PlacementConsequence,
  type PlacementWrite,
  type PreviewedObject,
  type PreviewGroup,
  type PreviewReceiver,
  type PreviewRequest,
  type Previews,
  type RevisionsRequest,
} from '../../../placement/desks/placementPreview.ts'
import { isSystemObject } from '../../../placement/select/eligibility.ts'
import { downsyncs } from '../../../placement/select/placementSpec.ts'
import { reachOf } from '../../../placement/select/reach.ts'
import { namespaceKey, objectKey, resourceKey } from '../../../placement/words/names.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import { mailboxGate } from '../copies/decide.ts'
import { SourceReader, type SourceReaderDeps } from '../copies/sourceReader.ts'
import { ObjectCache } from '../join/objectCache.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import type { ObjectFact, Workload } from '../join/workload.ts'
import { factOf } from '../join/workloads.ts'
import type { Brake } from '../retention/brake.ts'
import { NO_LOCATION } from '../status/placementStages.ts'
import { type ImaginedPlacementsDeps, imaginedCarriers, imaginedPlacements } from './imaginedPlacements.ts'
import { locationFaults } from './locationFaults.ts'
import { consequenceOf } from './placementConsequence.ts'
import { PreviewChecks } from './previewChecks.ts'
import { PreviewDisclosure } from './previewDisclosure.ts'
import { PreviewedClusters, type PreviewedClustersDeps } from './previewedClusters.ts'
import { type Finding, PreviewGroups } from './previewGroups.ts'
import { PreviewLive } from './previewLive.ts'
import { type Moves, movesOf } from './previewMoves.ts'
import { previewRevisions } from './previewRevisions.ts'
import type { Imagined, Scene } from './previewScene.ts'
import { type PreviewStagesDeps, previewStages } from './previewStages.ts'
import { movedCopies, type TotalsDeps, totalsOf } from './previewTotals.ts'
import { unseen } from './previewUnseen.ts'
import { CARRIED_UP, TOO_MANY, TOO_MUCH } from './previewWords.ts'
import { unplacedSpace } from './unplacedSpace.ts'

export interface PlacementPreviewsDeps extends PreviewedClustersDeps {
  turns: WorkTurns
  clock: Clock
  logger: Logger
  where: ImaginedPlacementsDeps['where']
  now: () => number
  live: LiveAsker | undefined
  brake: Pick<Brake, 'wouldHold'>
  rollouts: PreviewStagesDeps['rollouts']
  /** Why a space has nowhere to place; `undefined` when it has. */
  nowhere: (space: string) => Reason | undefined
  /** Whether it is known where an object goes. */
  knows: (space: string, key: string) => boolean
  location: SourceReaderDeps['location']
  /** Locations that a space may place on. */
  locationsFor: (space: string) => Iterable<KubeObject>
  customizer: SourceReaderDeps['customizer']
  schema: SourceReaderDeps['schema']
}

/** Bytes that are compared for a unit of work. */
const COMPARED = 50

export class PlacementPreviews implements PreviewReceiver {
  readonly #deps: PlacementPreviewsDeps
  readonly #clusters: PreviewedClusters

  constructor(deps: PlacementPreviewsDeps) {
    this.#deps = deps
    this.#clusters = new PreviewedClusters(deps)
  }

  async preview(request: PreviewRequest): Promise<Previews> {
    const { space, objects, work } = request
    const placements = await imaginedPlacements(this.#deps, request)
    const stored = await this.#stored(request, placements)
    const { workload } = stored
    const moves = await inSlices(movesOf(objects, placements, { workload }), work)
    const found = await inSlices(totalsOf(this.#counted(space, placements, workload), space, moves), work)
    const totals = new Map([...found].map(([one, total]) => [one, movedCopies(total)]))
    const scene = this.#scene(request, moves, { totals, ...stored })
    const previews: ObjectPreview[] = []
    for (const one of objects) previews.push(await this.#previewOne(scene, one))
    for (const fact of moves.moved.values()) {
      const preview = await this.#previewMoved(scene, fact)
      if (preview) previews.push(preview)
    }
    return { objects: previews, rollouts: await previewStages(this.#deps, scene, previews) }
  }

  async compare(request: RevisionsRequest): Promise<Previews> {
    return await previewRevisions(this.#deps, request)
  }

  async consequence({ space, object }: PlacementWrite): Promise<PlacementConsequence | undefined> {
    const { name = '' } = object.metadata
    if (!this.#deps.knows(space, objectKey(EDGE_PLACEMENTS, '', name))) return undefined
    try {
      return await consequenceOf({ ...this.#deps, counted: (...what) => this.#counted(space, ...what) }, space, object)
    } catch (err) {
      // no write fails for want of a warning
      this.#deps.logger.warn({ space, name, err }, 'it could not be found out what an EdgePlacement would lead to')
      return undefined
    }
  }

  async locationFaults(write: PlacementWrite): Promise<readonly string[]> {
    const { space } = write
    try {
      const work = this.#deps.turns.begin({ owner: space })
      return await inSlices(locationFaults(this.#deps, write), work)
    } catch (err) {
      this.#deps.logger.warn({ space, err }, 'what an object says of Locations could not be compared with them')
      return []
    }
  }

  /** With the placements as they would be. */
  #counted(
    space: string,
    placements: Moves['placements'],
    workload: TotalsDeps['workload'],
    pairs = MAX_PREVIEW_PAIRS,
  ): TotalsDeps {
    const { join, mailbox, brake, facts } = this.#deps
    const specs = { spec: (of: string, name: string) => placements.get(name)?.spec ?? join.spec(of, name) }
    return {
      join,
      workload,
      mailbox,
      keeps: (name, key) => mailboxGate(facts, name) !== undefined || facts.pauses.holdsCopy(name, key, space, specs),
      wouldHold: (going, kept) => brake.wouldHold(space, going, kept),
      pairs,
    }
  }

  /** Content of the space: read now where it is not followed and a placement of the question would place objects of it. */
  async #stored(
    request: PreviewRequest,
    placements: Moves['placements'],
  ): Promise<{ workload: Workload; holdsTooMuch: boolean }> {
    const { client, join } = this.#deps
    const { space } = request
    const places = [...placements.values()].some(({ spec, ways }) => spec.downsync.length > 0 && ways && ways.size > 0)
    if (!places || join.isWorkloadSpace(space)) return { workload: join.workload(space), holdsTooMuch: false }
    const workload = await unplacedSpace(client, request)
    return { workload: workload ?? join.workload(space), holdsTooMuch: workload === undefined }
  }

  /** An object that is as it is, and goes elsewhere. Its content is for those who may get it. */
  async #previewMoved(scene: Scene, fact: ObjectFact): Promise<ObjectPreview | undefined> {
    const { space, mayGet } = scene.request
    const object = await scene.sources.read(space, fact)
    if (!object) return undefined
    const { resource, namespace, name, customizer } = fact
    const findings = scene.groups.begin(object)
    const isSeen = await mayGet?.(resource, { namespace, name })
    const shown = isSeen ? findings : unseen(findings, scene.customizers.has(customizer))
    return { ...(await this.#previewOne(scene, { resource, object, operation: 'unchanged' }, shown)), isMoved: true }
  }

  #scene(
    request: PreviewRequest,
    moves: Moves,
    { totals, workload, holdsTooMuch }: Pick<Scene, 'totals' | 'holdsTooMuch'> & { workload: Workload },
  ): Scene {
    const { client, join, consents, turns, location, customizer, schema } = this.#deps
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
      // the caller may have gone
      turns: { begin: owner => request.work ?? turns.begin(owner) },
      location,
      schema,
      keepsVerdicts: false,
      customizer: (space, reference) => customizers.get(reference) ?? customizer(space, reference),
    }
    const sources = new SourceReader(deps)
    const disclosure = new PreviewDisclosure({ ...deps, storedCustomizer: customizer, join, consents })
    const digests = new JsonDigests()
    const { work } = request
    const scene: Scene = {
      request,
      moves,
      totals,
      holdsTooMuch,
      join: imaginedJoin(this.#deps.join, moves.placements, workload),
      sources,
      disclosure,
      customizers: new Set(customizers.keys()),
      namespaces,
      groups: new PreviewGroups(digests),
      checks: new PreviewChecks({
        client,
        digests,
        work,
        spend: units => {
          scene.workLeft -= units
        },
      }),
      live:
        request.live &&
        new PreviewLive(this.#deps, {
          wish: request.live,
          hashKey: randomBytes(32).toString('hex'),
          gone: request.gone,
          work,
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
    const message = staysHome(one, scene, () => this.#deps.nowhere(space) ?? NO_LOCATION)
    const unknown = unknownOf(one, scene)
    const moves = scene.totals.get(one)
    const imagined: Imagined = { ...one, space, fact }
    const placements = message === undefined ? this.#selecting(scene, imagined) : []
    const wanted = this.#wanted(scene, imagined, placements, findings)
    const { work } = scene.request
    const lookWork = (await inSlices(jsonSizeInSteps(object, new Pace()), work)) / COMPARED
    for (const [mailbox, source] of wanted) {
      scene.workLeft -= lookWork
      if (scene.left-- <= 0) findings.add('Unknown', source.location, TOO_MANY)
      else if (scene.workLeft < 0) findings.add('Unknown', source.location, TOO_MUCH)
      else await this.#clusters.look(scene, { imagined, source, findings, mailbox })
      if (work?.due) await work.rest()
    }
    for (const [mailbox, way] of this.#deps.join.destinationsOf(space, key)) {
      if (!wanted.has(mailbox)) await this.#clusters.leave(scene, { imagined, way, findings, mailbox })
      if (work?.due) await work.rest()
    }
    const live = scene.live && !scene.moves.moved.has(key) ? await this.#live(scene, scene.live, imagined) : undefined
    return {
      ...about,
      placements,
      groups: findings.groups(),
      ...(live && { live }),
      // an unknown is not reported in numbers
      ...(message !== undefined && unknown === undefined && { message }),
      ...(moves && unknown === undefined && { moves }),
      ...(unknown !== undefined && { unknown }),
    }
  }

  /** Present content in the clusters. */
  async #live({ groups, disclosure }: Scene, live: PreviewLive, imagined: Imagined): Promise<PreviewGroup[]> {
    const { space, fact, object } = imagined
    const findings = groups.begin(object)
    const ways = this.#deps.join.destinationsOf(space, fact.key)
    const shows = async (name: string, location: Destination): Promise<boolean> => {
      const mailbox = this.#deps.mailbox(name)
      const copy = mailbox && (await this.#clusters.copyIn(mailbox, fact.key, imagined))
      return copy !== undefined && (await disclosure.showsCopy({ space, fact, location }, copy))
    }
    await live.find({ space, fact, object, ways, shows }, findings)
    return findings.groups()
  }

  /** Names of the placements that would select an object, sorted. */
  #selecting({ request, moves, namespaces, ...scene }: Scene, { space, fact }: Imagined): string[] {
    const { join } = this.#deps
    const workload = scene.join.workload(space)
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

  /** Destinations by mailbox; includes refusals by grants. */
  #wanted(
    { moves }: Scene,
    { space, fact }: Imagined,
    placements: readonly string[],
    findings: Finding,
  ): Map<string, Source> {
    const { join, consents } = this.#deps
    const wanted = new Map<string, Source>()
    const refused = new Map<string, { way: Destination; why: Reason }>()
    const carriersTo = imaginedCarriers(join, space, moves.placements)
    for (const name of placements) {
      const imagined = moves.placements.get(name)
      const spec = imagined?.spec ?? join.spec(space, name)!
      for (const [mailbox, ways] of (imagined ? imagined.ways : join.waysOf(space, name)) ?? []) {
        const location = join.wayOn({ space, spec, ways }, fact, carriersTo(mailbox))
        if (!location) {
          const why = consents.allowance(space, ways[0]!).refusal({ ...fact.resource, ...nameOf(fact) }) ?? CARRIED_UP
          refused.set(mailbox, { way: ways[0]!, why })
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
    for (const [mailbox, { way, why }] of refused) if (!wanted.has(mailbox)) findings.add('NotPermitted', way, why)
    return wanted
  }
}

function nameOf({ namespace, name }: ObjectFact) {
  return { namespace, name }
}

/** The join, with the placements as they would be. */
function imaginedJoin(
  join: Pick<PlacementJoin, 'spec'>,
  placements: Moves['placements'],
  workload: Workload,
): Pick<PlacementJoin, 'spec' | 'workload'> {
  return {
    spec: (space, name) => placements.get(name)?.spec ?? join.spec(space, name),
    workload: () => workload,
  }
}

/** Unknown part of an EdgePlacement's moves. */
function unknownOf(
  { resource, object }: PreviewedObject,
  { moves: { placements }, holdsTooMuch }: Scene,
): string | undefined {
  if (resourceKey(resource) !== resourceKey(EDGE_PLACEMENTS)) return undefined
  const placement = placements.get(object.metadata.name ?? '')
  if (placement && !placement.ways) return UNKNOWN_WAYS
  return placement && holdsTooMuch && placement.ways!.size > 0 && placement.spec.downsync.length > 0
    ? TOO_MUCH_HELD
    : undefined
}

const UNKNOWN_WAYS = 'it is not known yet to which locations it would lead, so what that moves is not known; try again'
const TOO_MUCH_HELD = `this space has no EdgePlacement yet, and more than the ${MAX_PREVIEW_READ} objects that a preview reads, so its choice is unknown. Preview the objects together with it`

function staysHome(
  one: PreviewedObject,
  { moves: { counts, moved, placements } }: Scene,
  nowhere: () => Reason,
): string | undefined {
  const { resource, object } = one
  const count = counts.get(one)
  if (count !== undefined) {
    const shown = count > moved.size ? `; ${moved.size} are shown` : ''
    const isPlacement = resourceKey(resource) === resourceKey(EDGE_PLACEMENTS)
    const ways = isPlacement ? placements.get(object.metadata.name ?? '')?.ways : undefined
    const where = ways?.size === 0 ? `; it would lead nowhere: ${nowhere().message}` : ''
    return `moves ${count} other ${count === 1 ? 'object' : 'objects'} of this space${shown}${where}`
  }
  if (reachOf(resource) === 'none') return `objects of kind ${object.kind} travel nowhere`
  return isSystemObject(resource, object) ? 'it is for the space itself, and travels nowhere' : undefined
}
