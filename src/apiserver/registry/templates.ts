/**
 * Making the same object in many spaces: what is the same for all of them is done once. The first one is made as any object is, and
 * what became of it is kept as a template: its text, cut where it says which object it is and when it was made. The next one
 * takes its own uid, time and space.
 *
 * A template holds only where the way of any other object would lead to the same text: for the same sent object, as its
 * identity says, by the same writer, of a kind with the same rules, and where no step of admission changes anything. What
 * judges without changing (does the Namespace exist, may anything be made there) is asked each time.
 */
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { alikeOf } from '../../storage/alikeText.ts'
import type { Encoded, Gap, Revision, Stored } from '../../storage/store.ts'
import type { Admission } from './admission.ts'
import type { WriteContext } from './context.ts'
import { Filling } from './filling.ts'
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
  readonly text: Encoded
  /** As it was judged: with its defaults, also where it is stored without them. Taken over. */
  readonly object: KubeObject
}

export class Template {
  readonly #circumstances: Circumstances
  /** The text around what differs. */
  readonly #pieces: readonly string[]
  /** What stands between them. */
  readonly #gaps: readonly (keyof Identity)[]
  readonly #tail: string
  readonly #note: string | undefined
  readonly #declared: readonly Gap[] | undefined
  readonly #judged: KubeObject
  readonly #stored: KubeObject
  readonly #time: string
  #filling: Filling<keyof Identity> | undefined

  /** `undefined` where the object says elsewhere, too, which one it is or when it was made. */
  static of(circumstances: Circumstances, made: Made): Template | undefined {
    const cut = cutAt(made)
    return cut && new Template(circumstances, made, cut)
  }

  private constructor(circumstances: Circumstances, { identity, text, object }: Made, cut: Cut) {
    this.#circumstances = circumstances
    this.#pieces = cut.pieces
    this.#gaps = cut.gaps
    this.#tail = text.tail
    this.#note = text.note
    this.#declared = text.gaps
    this.#judged = object
    this.#stored = JSON.parse(`${text.head}${text.tail}`) as KubeObject
    this.#time = identity.now
  }

  holds(circumstances: Circumstances): boolean {
    return isSameWrite(this.#circumstances, circumstances)
  }

  text(identity: Identity): Encoded {
    return this.#filling?.text(slot => identity[slot], identity.space) ?? this.#joined(identity)
  }

  /** What became of one of its texts: the next ones are told by what differs, if the store keeps once what does not. */
  learn({ uid, now }: Identity, stored: Stored): void {
    this.#filling ??= Filling.of<keyof Identity>(stored, {
      slotOf: word => (word === uid ? 'uid' : word === now ? 'now' : undefined),
      example: (wordFor, space) => this.#joined({ uid: wordFor('uid'), now: wordFor('now'), space }),
    })
  }

  #joined(identity: Identity): Encoded {
    const pieces = this.#pieces
    let head = pieces[0]!
    for (let i = 1; i < pieces.length; i++) head += identity[this.#gaps[i - 1]!] + pieces[i]!
    const text = { head, tail: this.#tail, gaps: this.#declared }
    return this.#note === undefined ? text : { ...text, note: this.#note }
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

/** What a stored version was written as. */
export function textOf(stored: Stored): Encoded {
  const { bytes, headBytes, revision, note } = stored
  const head = bytes.toString('utf8', 0, headBytes)
  const tail = bytes.toString('utf8', headBytes + String(revision).length)
  const gaps = alikeOf(stored)?.body.gaps
  return { head, tail, ...(note !== undefined && { note }), ...(gaps && { gaps }) }
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

interface Cut {
  readonly pieces: readonly string[]
  readonly gaps: readonly (keyof Identity)[]
}

/** The head cut at each place that says which object it is; `undefined` where there are others than those that are known. */
function cutAt({ identity, text, object }: Made): Cut | undefined {
  const { annotations = {}, managedFields = [] } = object.metadata
  const expected: Record<keyof Identity, number> = {
    uid: 1,
    now: 1 + managedFields.length,
    space: annotations[CLUSTER_ANNOTATION] === undefined ? 0 : 1,
  }
  const kinds = Object.keys(expected) as (keyof Identity)[]
  if (kinds.some(kind => text.tail.includes(identity[kind]))) return undefined
  if (managedFields.some(({ time }) => time !== identity.now)) return undefined
  const pieces: string[] = []
  const gaps: (keyof Identity)[] = []
  let start = 0
  for (let next = firstOf(text.head, identity, start); next; next = firstOf(text.head, identity, start)) {
    pieces.push(text.head.slice(start, next.at))
    gaps.push(next.kind)
    start = next.at + identity[next.kind].length
  }
  pieces.push(text.head.slice(start))
  return kinds.every(kind => gaps.filter(gap => gap === kind).length === expected[kind]) ? { pieces, gaps } : undefined
}

function firstOf(head: string, identity: Identity, from: number): { kind: keyof Identity; at: number } | undefined {
  let found: { kind: keyof Identity; at: number } | undefined
  for (const kind of ['uid', 'now', 'space'] as const) {
    const at = head.indexOf(identity[kind], from)
    if (at !== -1 && (found === undefined || at < found.at)) found = { kind, at }
  }
  return found
}
