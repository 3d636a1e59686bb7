/**
 * Making the same object in many spaces: what is the same for all of them is done once. The first one is made as any object is, and
 * what became of it is kept as a template: the body of its text. The next one has its own uid, time and space.
 *
 * A template holds only where the way of any other object would lead to the same text: for the same sent object, as its
 * identity says, by the same writer, of a kind with the same rules, and where no step of admission changes anything. What
 * judges without changing (does the Namespace exist, may anything be made there) is asked each time.
 */
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { AlikeText, alikeOf } from '../../storage/alikeText.ts'
import type { Body } from '../../storage/body.ts'
import type { SharedStored } from '../../storage/sharedStored.ts'
import type { Gap, Revision, Stored } from '../../storage/store.ts'
import type { Admission } from './admission.ts'
import { decodeObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import type { Parameterized } from './parameters.ts'
import type { Part } from './provenance.ts'

/** What the same object is made by, and of which the answer is the same as long as all of this is. */
export interface Circumstances {
  readonly context: WriteContext
  readonly type: ResourceType
  /** The version in which objects of `type` are handled. */
  readonly target: ResourceType
  readonly part: Part | undefined
  readonly parameterized: Parameterized
}

/** Which object one of them is. */
export interface Identity {
  readonly uid: string
  /** RFC 3339, whole seconds. */
  readonly now: string
  readonly space: string
}

export interface Made {
  readonly identity: Identity
  readonly stored: Stored
  /** As it was judged: with its defaults, also where it is stored without them. Taken over. */
  readonly object: KubeObject
}

export class Template {
  readonly #circumstances: Circumstances
  readonly #body: Body
  /** The time of the last text, in each gap for one; behind these stand what the status says. */
  #times: readonly string[]
  readonly #headTimes: number
  readonly #spaceLength: number | undefined
  readonly #judged: KubeObject
  readonly #stored: KubeObject
  readonly #time: string

  /** `undefined` where the store keeps the text for itself, or it says elsewhere, too, which object it is or when it was made. */
  static of(circumstances: Circumstances, made: Made): Template | undefined {
    const shared = alikeOf(made.stored)
    const { now } = made.identity
    if (!shared || !saysOnce(shared, made.object, [now])) return undefined
    const isNew = shared.rest.slice(0, shared.body.headTimes).every(time => time === now)
    return isNew ? new Template(circumstances, shared, made) : undefined
  }

  private constructor(circumstances: Circumstances, shared: SharedStored, { identity, object }: Made) {
    this.#circumstances = circumstances
    this.#body = shared.body
    this.#times = shared.rest
    this.#headTimes = shared.body.headTimes
    this.#spaceLength = shared.body.gaps.find(({ kind }) => kind === 'space')?.length
    this.#judged = object
    this.#stored = decodeObject(shared)
    this.#stored.metadata.resourceVersion = ''
    this.#time = identity.now
  }

  /** The root's id is shorter than all others. */
  holds(circumstances: Circumstances): boolean {
    const spaceLength = this.#spaceLength ?? circumstances.context.space.length
    return spaceLength === circumstances.context.space.length && isSameWrite(this.#circumstances, circumstances)
  }

  /** `undefined` where the uid is longer or shorter than that of the first object. */
  text({ uid, now, space }: Identity): AlikeText | undefined {
    // what is made in the same second has the same
    if (this.#times[0] !== now) this.#times = this.#times.map((time, i) => (i < this.#headTimes ? now : time))
    const said = { own: uid, rest: this.#times }
    return this.#body.holds(said, space) ? new AlikeText(this.#body, said, space) : undefined
  }

  /** The object as it was stored first. Nobody ever changes it. */
  get sample(): Readonly<KubeObject> {
    return this.#stored
  }

  /** The object as it is judged; it shares what does not differ. */
  judged(identity: Identity): KubeObject {
    return { ...this.#judged, metadata: this.#metadata(this.#judged.metadata, identity) }
  }

  /** The object as it is stored; it shares what does not differ. */
  stored(identity: Identity, revision: Revision): KubeObject {
    const metadata = this.#metadata(this.#stored.metadata, identity)
    metadata.resourceVersion = String(revision)
    return { ...this.#stored, metadata }
  }

  #metadata(shared: ObjectMeta, { uid, now, space }: Identity): ObjectMeta {
    const { annotations, managedFields } = shared
    const metadata: ObjectMeta = { ...shared, uid, creationTimestamp: now }
    if (annotations?.[CLUSTER_ANNOTATION] !== undefined)
      metadata.annotations = { ...annotations, [CLUSTER_ANNOTATION]: space }
    if (managedFields && now !== this.#time)
      metadata.managedFields = managedFields.map(entry => ({ ...entry, time: now }))
    return metadata
  }
}

/** Templates by the objects that were sent, as long as somebody holds those. */
export class Templates {
  readonly #known = new WeakMap<object, Template>()

  /** One that holds there. */
  get(sent: object, circumstances: Circumstances): Template | undefined {
    const known = this.#known.get(sent)
    return known?.holds(circumstances) ? known : undefined
  }

  keep(sent: object, circumstances: Circumstances, made: Made): void {
    const template = Template.of(circumstances, made)
    if (template) this.#known.set(sent, template)
  }
}

/** Whether a write of the type can be made by a template at all, with these steps on its way. */
export function isRepeatable(
  circumstances: Circumstances,
  { metadata }: Readonly<KubeObject>,
  steps: readonly Admission[],
): boolean {
  return (
    Boolean(metadata.name) &&
    metadata.managedFields === undefined &&
    metadata.resourceVersion === undefined &&
    isPlain(circumstances) &&
    steps.every(({ stage }) => stage === 'gate' || stage === 'validate')
  )
}

/** Whether what is sent, stored and answered are of one version, and nobody is told anything beside. */
export function isPlain({ context, type, target }: Circumstances): boolean {
  return (
    !context.dryRun &&
    context.findings === undefined &&
    type.custom?.convert === undefined &&
    // what is stored is what is handled and what is answered
    apiVersionOf(type) === apiVersionOf(target) &&
    type.version === type.storageVersion
  )
}

/** Whether the same sent object becomes the same under both. */
export function isSameWrite(a: Circumstances, b: Circumstances): boolean {
  return (
    a.part === b.part &&
    a.parameterized === b.parameterized &&
    a.context.user.name === b.context.user.name &&
    a.context.fieldManager === b.context.fieldManager &&
    a.context.fieldValidation === b.context.fieldValidation &&
    hasSameRules(a.type, b.type) &&
    hasSameRules(a.target, b.target)
  )
}

/** Built-in kinds are the same everywhere; equal schemas of custom ones are the same object. */
function hasSameRules(a: ResourceType, b: ResourceType): boolean {
  if (a === b) return true
  if (a.custom === undefined || b.custom === undefined) return false
  return (
    a.group === b.group &&
    a.version === b.version &&
    a.resource === b.resource &&
    a.kind === b.kind &&
    a.namespaced === b.namespaced &&
    a.storageVersion === b.storageVersion &&
    a.schema === b.schema &&
    a.custom.schemas.get(a.storageVersion) === b.custom.schemas.get(b.storageVersion) &&
    a.custom.convert === undefined &&
    b.custom.convert === undefined &&
    a.subresources.join() === b.subresources.join()
  )
}

/** Whether its metadata alone says which object it is and when what happened: no other text of it names these `times`. */
export function saysOnce(
  { body, own, key }: SharedStored,
  { metadata }: KubeObject,
  times: readonly string[],
): boolean {
  const { uid, annotations = {}, managedFields = [] } = metadata
  const count = (kind: Gap['kind']): number => body.gaps.filter(gap => gap.kind === kind).length
  return (
    own === uid &&
    count('uid') === 1 &&
    count('space') === (annotations[CLUSTER_ANNOTATION] === undefined ? 0 : 1) &&
    body.headTimes === 1 + managedFields.length &&
    ![own, key.space, ...times].some(word => body.isSolid(word))
  )
}
