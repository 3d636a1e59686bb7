/** Reads objects of workload spaces, newest version as indexed, and customizes them for a Location. */

import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { digestInSteps } from '../../../apimachinery/jsonDigests.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import { isTokenSecret } from '../../../apimachinery/tokenSecret.ts'
import type { Client } from '../../../client/client.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { asAuthored, asDescribed, withoutDefaults } from '../../../placement/content/asDescribed.ts'
import { choiceThere } from '../../../placement/content/customizerRules.ts'
import type { BuiltinSchema } from '../../../placement/desks/desks.ts'
import { isSystemObject } from '../../../placement/select/eligibility.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { ObjectFact, StagedObject } from '../join/workload.ts'
import { type Customization, type CustomizationInputs, customize } from './customize.ts'
import { parametersOf } from './parameterExpansion.ts'

export interface SourceReaderDeps {
  client: Client
  cache: ObjectCache
  location: (cluster: string, name: string) => KubeObject | undefined
  /** `reference` is `namespace/name`. */
  customizer: (space: string, reference: string) => KubeObject | undefined
  schema: BuiltinSchema
  /** Turns of the loop in which objects are customized. */
  turns: Pick<WorkTurns, 'begin'>
  /** Whether it is remembered what was wrong with objects that are dear to customize. Default: yes. */
  keepsVerdicts?: boolean
}

type At = { space: string; fact: ObjectFact; location: Destination }

interface Checked {
  /** Revision at which the object was last found unchanged: the way without a read. */
  revision: number
  /** Digest of the object and of its inputs. */
  readonly digest: string
  readonly location: KubeObject | undefined
  readonly customizer: KubeObject | undefined
  readonly faults: readonly string[]
}

/** Latest result, for other destinations of the same object. */
interface Made {
  readonly source: KubeObject
  readonly customizer: KubeObject | undefined
  readonly hasLocation: boolean
  /** Which of its rules hold, by {@link choiceThere}. */
  readonly choice: string
  readonly readParameters: ReadonlyMap<string, string | undefined>
  readonly made: Customization
}

const STAYS = 'it would be what never travels: a token that a server gives, or an object that acts in its space'

/** In units of work: what is cheaper is done again. */
const DEAR = 5_000
/** Faults of objects that are dear to customize: each destination needs them at least twice. */
const VERDICTS = { entries: 2000, characters: 4 * 1024 * 1024 }

export class SourceReader {
  readonly #deps: SourceReaderDeps
  /** By space: settles with the customization that was begun last. */
  readonly #last = new Map<string, Promise<void>>()
  readonly #checked = new BoundedCache<string, Checked>({
    entries: VERDICTS.entries,
    weight: { limit: VERDICTS.characters, of: ({ faults }, key) => key.length + faults.join().length },
  })
  #made: Made | undefined

  constructor(deps: SourceReaderDeps) {
    this.#deps = deps
  }

  /** The object, shared: nobody changes it. `undefined` when it is gone or going. */
  async read(space: string, fact: ObjectFact): Promise<KubeObject | undefined> {
    const cached = this.#deps.cache.get(space, fact.key, String(fact.revision))
    if (cached) return cached
    if (fact.stage) return await this.#readStaged(space, fact, fact.stage)
    const object = await unlessGone(this.#deps.client.in(space).get(fact.resource, refOf(fact)))
    if (!object || object.metadata.deletionTimestamp !== undefined) return undefined
    this.#deps.cache.set(space, fact.key, object)
    return object
  }

  async #readStaged(space: string, { revision }: ObjectFact, stage: StagedObject): Promise<KubeObject | undefined> {
    const { cache } = this.#deps
    const cached = cache.get(space, stage.id, String(revision))
    if (cached) return cached
    const object = await stage.read()
    if (object) cache.set(space, stage.id, object)
    return object
  }

  /** `source` is as {@link read} gives it: what its own server added stays there. */
  async customize(at: At, source: KubeObject): Promise<Customization> {
    if (!at.fact.customized) return { object: withoutDefaults(asDescribed(source), source), faults: [], work: 0 }
    const inputs = this.#inputs(at)
    const known = this.#madeAlike(source, inputs)
    if (known) return known
    const object = asAuthored(source)
    const { customized, digest } = await this.#oneAtATime(at.space, async () => {
      const work = this.#deps.turns.begin({ owner: at.space })
      const customized = await inSlices(customize(object, inputs), work)
      const isKept = customized.work >= DEAR && (this.#deps.keepsVerdicts ?? true)
      return { customized, digest: isKept ? (await inSlices(digestInSteps(object), work)).digest : undefined }
    })
    // what stays at home is left out before anybody customizes
    const made = customized.object
    const stays = isSystemObject(at.fact.resource, made) || (isTokenSecret(made) && !isTokenSecret(source))
    const faults = stays ? [...customized.faults, STAYS] : customized.faults
    const { location, customizer } = inputs
    const { revision } = at.fact
    if (digest !== undefined) this.#checked.set(idOf(at), { revision, digest, location, customizer, faults })
    const result = { ...customized, object: withoutDefaults(made, source), faults }
    const { readParameters } = customized
    if (faults.length === 0 && readParameters) {
      const choice = choiceThere(customizer, location)
      this.#made = { source, customizer, hasLocation: location !== undefined, choice, readParameters, made: result }
    }
    return result
  }

  /** The result for another destination whose inputs have the same values. */
  #madeAlike(source: KubeObject, { location, customizer }: CustomizationInputs): Customization | undefined {
    const last = this.#made
    if (last?.source !== source || last.customizer !== customizer) return undefined
    if (last.hasLocation !== (location !== undefined)) return undefined
    if (last.choice !== choiceThere(customizer, location)) return undefined
    const parameters = location && last.readParameters.size > 0 ? parametersOf(location) : undefined
    for (const [name, value] of last.readParameters) if (parameters?.get(name) !== value) return undefined
    return last.made
  }

  /** The object as the destination gets it; `undefined` when something is wrong with it. */
  async flawless(at: At, source: KubeObject): Promise<KubeObject | undefined> {
    // nearly always: nobody waits for what is not there
    const known = this.#checked.has(idOf(at)) ? await this.#known(at, source) : undefined
    if (known !== undefined && known.length > 0) return undefined
    const { object, faults } = await this.customize(at, source)
    return faults.length === 0 ? object : undefined
  }

  /** Faults of the object as the destination would get it. */
  async faults(at: At, source: KubeObject): Promise<readonly string[]> {
    return (await this.#known(at, source)) ?? (await this.customize(at, source)).faults
  }

  /** Where all is as it was when the object was last customized for the destination. */
  async #known(at: At, source: KubeObject): Promise<readonly string[] | undefined> {
    const known = this.#checked.get(idOf(at))
    if (!known) return undefined
    const { location, customizer } = this.#inputs(at)
    if (known.location !== location || known.customizer !== customizer) return undefined
    if (known.revision !== at.fact.revision) {
      const work = this.#deps.turns.begin({ owner: at.space })
      if (known.digest !== (await inSlices(digestInSteps(asAuthored(source)), work)).digest) return undefined
      known.revision = at.fact.revision
    }
    return known.faults
  }

  #inputs({ space, fact, location: way }: At): CustomizationInputs {
    const { cluster, locationName } = way
    return {
      location: fact.stage?.location(way) ?? this.#deps.location(cluster, locationName),
      locationName,
      customizer: this.#customizerOf(space, fact),
      schema: this.#deps.schema,
    }
  }

  #customizerOf(space: string, { customizer, stage }: ObjectFact): KubeObject | undefined {
    if (customizer === '') return undefined
    return stage ? stage.customizer : this.#deps.customizer(space, customizer)
  }

  /** For each space, so that no space has many large objects half made at a time. */
  async #oneAtATime<T>(space: string, run: () => Promise<T>): Promise<T> {
    const running = (this.#last.get(space) ?? Promise.resolve()).then(run)
    const settled = running.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(space, settled)
    try {
      return await running
    } finally {
      if (this.#last.get(space) === settled) this.#last.delete(space)
    }
  }
}

function idOf({ space, fact, location: { cluster, locationName } }: At): string {
  return `${space} ${fact.key} ${cluster} ${locationName}`
}
