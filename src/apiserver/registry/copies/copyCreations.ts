/** Creates copies: the body of the first one, with a uid, a space and times of their own. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { cloneJson } from '../../../apimachinery/values.ts'
import { type Body, joined, timesOf } from '../../../storage/body.ts'
import { CopyText, copyIn } from '../../../storage/copyText.ts'
import type { Write } from '../../../storage/store.ts'
import { type Admission, Outcome, optionsOf, runStage, stepsFor } from '../admission.ts'
import { decodeObject } from '../codec.ts'
import type { Creations } from '../creations.ts'
import { keyOf } from '../keys.ts'
import type { Preparation, RegistryDeps } from '../preparation.ts'
import { type Circumstances, isPlain, isSameWrite } from './circumstances.ts'
import { type Copied, type CopyCreation, goAhead, perPlace, storedAt } from './copyWrites.ts'

/** A creation that may do without the ordinary way. */
interface Candidate extends CopyCreation {
  readonly circumstances: Circumstances
  readonly steps: readonly Admission[]
}

/** The outcome of the ordinary way for a sent object. */
interface Shown {
  readonly circumstances: Circumstances
  /** Absent where its codec declares no gaps. */
  readonly body: Body | undefined
  readonly like: Readonly<KubeObject>
  /** The times of the last copy, made at `now`. Those in its status are part of the sent object. */
  times: string
  now: string
}

/** Circumstances in which an object is sent. */
const KEPT = 4

export class CopyCreations {
  readonly #deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #creations: Creations
  /** By sent objects, as long as their writer holds these. */
  readonly #shown = new WeakMap<object, readonly Shown[]>()

  constructor(preparation: Preparation, creations: Creations, deps: RegistryDeps) {
    this.#deps = deps
    this.#preparation = preparation
    this.#creations = creations
  }

  async create(all: readonly CopyCreation[]): Promise<readonly (Copied | undefined)[]> {
    const { store, clock, uuid } = this.#deps
    const stepsAt = perPlace<CopyCreation, readonly Admission[] | undefined>(place => this.#stepsAt(place))
    const candidates = all.map(one => this.#candidate(one, stepsAt(one)))
    const shownOf = (i: number): Shown | undefined => candidates[i] && this.#shownFor(candidates[i])
    const made = await goAhead(
      all.map(({ object }) => object),
      i => candidates[i] === undefined || shownOf(i) !== undefined,
      i => this.#first(candidates[i]!),
    )
    const openings = perPlace<Candidate, boolean | Promise<boolean>>(isOpen)
    const shown: (Shown | undefined)[] = []
    for (const [i, one] of candidates.entries()) {
      const known = made[i] ? undefined : shownOf(i)
      const open = known?.body !== undefined && openings(one!)
      shown.push((typeof open === 'boolean' ? open : await open) ? known : undefined)
    }
    const now = timestamp(clock())
    const texts = all.map((one, i) =>
      shown[i] && this.#isServed(one) ? textOf(shown[i], uuid(), one.context.space, now) : undefined,
    )
    const writes = all.map(({ context, type, namespace, object }, i): Write | undefined => {
      const key = keyOf(context.space, type, namespace, object.metadata.name ?? '')
      return texts[i] && { key, mutation: { type: 'put', text: texts[i] }, expect: 0 }
    })
    const stored = await storedAt(store, writes)
    return all.map((_, i) => {
      const copy = stored[i]
      return copy ? { stored: copy, uid: texts[i]!.uid, like: shown[i]!.like } : made[i]
    })
  }

  /** The steps of a place; `undefined` where one changes objects, or judges more than the place. */
  #stepsAt({ context: { space, user }, type, namespace }: CopyCreation): readonly Admission[] | undefined {
    const steps = stepsFor(this.#deps.admission, type, 'CREATE', { space, namespace, subresource: '', user })
    const judgePlaces = steps.every(
      ({ judgesPlaces, stage }) => judgesPlaces && (stage === 'gate' || stage === 'validate'),
    )
    return judgePlaces ? steps : undefined
  }

  #candidate(one: CopyCreation, steps: readonly Admission[] | undefined): Candidate | undefined {
    const { context, type, namespace, object } = one
    const { name, managedFields, resourceVersion } = object.metadata
    if (!steps || !name || managedFields !== undefined || resourceVersion !== undefined) return undefined
    if (this.#deps.shared?.of(type, namespace)?.has(context.space, name)) return undefined
    const circumstances = this.#preparation.circumstances(context, type, object)
    return isPlain(circumstances) ? { ...one, circumstances, steps } : undefined
  }

  /** The id of the root is shorter than all others: it does not fit into their gap. */
  #shownFor({ object, context, circumstances }: Candidate): Shown | undefined {
    const isFor = ({ circumstances: known }: Shown): boolean =>
      known.context.space.length === context.space.length && isSameWrite(known, circumstances)
    return this.#shown.get(object)?.find(isFor)
  }

  async #first({ context, type, namespace, object, circumstances }: Candidate): Promise<Copied | undefined> {
    try {
      const { stored } = await this.#creations.create(context, type, namespace, cloneJson(object), { isShared: true })
      const like = decodeObject(stored)
      const copy = copyIn(stored)
      const shown = { circumstances, body: copy?.body, like, times: copy?.times ?? '', now: '' }
      this.#shown.set(object, [shown, ...(this.#shown.get(object) ?? []).slice(0, KEPT - 1)])
      return { stored, uid: like.metadata.uid ?? '', like }
    } catch {
      return undefined // the caller's ordinary way says why
    }
  }

  /** The definition of a custom kind may have begun to go since the request. */
  #isServed({ context: { space }, type }: CopyCreation): boolean {
    if (type.custom === undefined) return true
    const { group, version, resource } = type
    return this.#deps.typeAt(space, group, version, resource)?.verbs.includes('create') === true
  }
}

/** Whether the steps let copies into the place; a promise only where a step waits. Never throws nor rejects. */
function isOpen({ context, type, object, circumstances: { target }, steps }: Candidate): boolean | Promise<boolean> {
  const request = {
    operation: 'CREATE',
    context,
    type: target,
    requestType: type,
    subresource: '',
    object,
    old: undefined,
    options: optionsOf('CreateOptions', context),
    outcome: new Outcome(),
  } as const
  const validated = (): Promise<void> | undefined => runStage(steps, 'validate', request)
  try {
    const gated = runStage(steps, 'gate', request)
    const waits = gated ? gated.then(validated) : validated()
    if (waits === undefined) return true
    return waits.then(
      () => true,
      () => false,
    )
  } catch {
    return false
  }
}

/** `undefined` where a value is longer or shorter than its gap. */
function textOf(shown: Shown, uid: string, space: string, now: string): CopyText | undefined {
  const body = shown.body!
  // copies of one second have the same times
  if (shown.now !== now) {
    shown.times = joined(timesOf(shown).map((time, i) => (i < body.headTimes ? now : time)))
    shown.now = now
  }
  const own = { uid, times: shown.times }
  return body.holds(own, space) ? new CopyText(body, own, space) : undefined
}
