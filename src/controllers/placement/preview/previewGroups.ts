/**
 * Findings of a preview, grouped: clusters with the same effect on an object are one group. Contents are shown without bookkeeping. Values
 * of Secrets are hashes with a key of this preview alone: they can be compared and not guessed. Pure.
 */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { JsonDigests } from '../../../apimachinery/jsonDigests.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { compareFirsts, compareTexts, setMember } from '../../../apimachinery/values.ts'
import { leftFieldsOf, withoutFields } from '../../../placement/content/leftFields.ts'
import {
  MAX_GROUP_LOCATIONS,
  MAX_PREVIEW_CONTENT_BYTES,
  type PreviewAction,
  type PreviewGroup,
  type PreviewLocation,
} from '../../../placement/desks/placementPreview.ts'
import { isShownMark } from '../../../placement/words/marks.ts'
import { PROJECTED_LABEL } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import { type Destination, otherTarget } from '../../../placement/words/ways.ts'

interface Content {
  readonly before?: KubeObject | undefined
  readonly after?: KubeObject | undefined
}

export interface Finding {
  add(action: PreviewAction, way: Destination, why?: Reason): void
  /** With what is there and what would be, which nobody changes any more. */
  show(action: PreviewAction, way: Destination, content: Content, why?: Reason): Steps<void>
  groups(): PreviewGroup[]
}

/** An object as it is shown. */
interface Shown {
  readonly object: KubeObject
  readonly digest: string
  readonly bytes: number
}

interface Gathered extends Omit<PreviewGroup, 'locations' | 'count'> {
  count: number
  locations: PreviewLocation[]
}

/** Groups with contents of one object; in more, clusters differ so much that nobody reads it. */
const MAX_SHOWN = 50
const NO_ROOM = 'what would change is too much to be shown here; ask about fewer objects'

/** Groups for all objects of a preview. */
export class PreviewGroups {
  readonly #key = randomBytes(32)
  readonly #digests: JsonDigests
  /** Hashes of values of Secrets. */
  readonly #hashes = new WeakMap<object, Record<string, string>>()
  #bytesLeft = MAX_PREVIEW_CONTENT_BYTES
  /** Bytes of all contents that were compared, shown or not. */
  comparedBytes = 0

  constructor(digests: JsonDigests) {
    this.#digests = digests
  }

  begin(object: KubeObject): Finding {
    const isSecret = isSecretObject(object)
    const found = new Map<string, Gathered>()
    const gather = (action: PreviewAction, way: Destination, why?: Reason, before?: Shown, after?: Shown): void => {
      // only our bookkeeping differs
      const is = action === 'Update' && before !== undefined && before.digest === after?.digest ? 'Unchanged' : action
      const digests = is === 'Unchanged' ? [] : [before?.digest ?? null, after?.digest ?? null]
      const id = createHash('sha256')
        .update(JSON.stringify([is, why?.message, ...digests]))
        .digest('base64')
      let group = found.get(id)
      if (!group) {
        const content = is === 'Unchanged' ? {} : this.#content(before, after, found.size)
        group = { action: is, count: 0, locations: [], ...why, ...content }
        found.set(id, group)
      }
      group.count++
      if (group.locations.length < MAX_GROUP_LOCATIONS) group.locations.push(previewLocation(way))
    }
    const shown = (object: KubeObject | undefined) => this.#shown(object, isSecret)
    return {
      add: gather,
      show: function* (action, way, content, why) {
        const { before, after } = changedIn(content)
        gather(action, way, why, yield* shown(before), yield* shown(after))
      },
      groups: () => [...found.values()].map(group => ({ ...group, locations: group.locations.sort(byName) })),
    }
  }

  /** An object at two times, wherever it goes. */
  *compared({ before, after }: Content): Steps<PreviewGroup> {
    const isSecret = isSecretObject((before ?? after)!)
    const [then, now] = [yield* this.#shown(before, isSecret), yield* this.#shown(after, isSecret)]
    this.comparedBytes += (then?.bytes ?? 0) + (now?.bytes ?? 0)
    const isSame = then?.digest === now?.digest
    const action = isSame ? 'Unchanged' : then && now ? 'Update' : now ? 'Create' : 'Delete'
    return { action, count: 0, locations: [], ...(!isSame && this.#content(then, now, 0)) }
  }

  #content(before: Shown | undefined, after: Shown | undefined, others: number): object {
    const bytes = (before?.bytes ?? 0) + (after?.bytes ?? 0)
    if (bytes === 0) return {}
    if (bytes > this.#bytesLeft || others >= MAX_SHOWN) return { message: NO_ROOM }
    this.#bytesLeft -= bytes
    return { ...(before && { before: before.object }), ...(after && { after: after.object }) }
  }

  *#shown(object: KubeObject | undefined, isSecret: boolean): Steps<Shown | undefined> {
    if (object === undefined) return undefined
    const { apiVersion, kind, metadata, status: _, ...fields } = object
    const { name, namespace, labels = {}, annotations = {} } = metadata
    const kept = {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...nonEmpty(
        'labels',
        without(labels, key => key === PROJECTED_LABEL),
      ),
      ...nonEmpty(
        'annotations',
        without(annotations, key => !isShownMark(key)),
      ),
    }
    const shown = isSecret ? yield* this.#hashed(fields) : fields
    const whole = { apiVersion, kind, metadata: kept, ...shown }
    return { object: whole, ...(yield* this.#digests.of(whole)) }
  }

  *#hashed(fields: Record<string, unknown>): Steps<Record<string, unknown>> {
    const hidden: Record<string, unknown> = {}
    for (const [field, value] of Object.entries(fields)) {
      const isHidden = field === 'data' || field === 'stringData'
      setMember(hidden, field, isHidden ? yield* this.#hash(value) : value)
    }
    return hidden
  }

  *#hash(value: unknown): Steps<unknown> {
    const hash = (what: unknown): string =>
      `hash:${createHmac('sha256', this.#key).update(JSON.stringify(what)).digest('hex').slice(0, 16)}`
    if (!isRecord(value)) return hash(value)
    let hashed = this.#hashes.get(value)
    if (hashed === undefined) {
      hashed = {}
      const pace = new Pace()
      for (const [key, secret] of Object.entries(value)) {
        setMember(hashed, key, hash(secret))
        if (pace.due()) yield
      }
      this.#hashes.set(value, hashed)
    }
    return hashed
  }
}

function isSecretObject({ kind, apiVersion }: KubeObject): boolean {
  return kind === 'Secret' && apiVersion === 'v1'
}

/** Fields of the present copy that are left to its cluster stay there and are not shown. */
function changedIn({ before, after }: Content): Content {
  const left = after ? leftFieldsOf(after) : []
  if (before === undefined || after === undefined || left.length === 0) return { before, after }
  return { before: withoutFields(before, left), after: withoutFields(after, left) }
}

function nonEmpty(field: string, value: Record<string, string>): object {
  return Object.keys(value).length > 0 ? { [field]: sorted(value) } : {}
}

function without(value: Readonly<Record<string, string>>, drops: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !drops(key)))
}

function sorted(value: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).sort(compareFirsts))
}

export function previewLocation(way: Destination): PreviewLocation {
  return { cluster: way.cluster, name: way.locationName, ...otherTarget(way) }
}

function byName(a: PreviewLocation, b: PreviewLocation): number {
  return (
    compareTexts(a.name, b.name) ||
    compareTexts(a.cluster, b.cluster) ||
    compareTexts(a.syncTarget ?? '', b.syncTarget ?? '')
  )
}
