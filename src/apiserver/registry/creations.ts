/**
 * Creates one object, in the order that createPreparation.ts says, down to the store.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { generateName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { hasMoreValues } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Encoded, Key, Stored } from '../../storage/store.ts'
import { refusal } from './accepted.ts'
import { Outcome } from './admission.ts'
import { textOfNone } from './codec.ts'
import type { WriteContext } from './context.ts'
import { CreatePreparation } from './createPreparation.ts'
import { keyOf } from './keys.ts'
import { LARGE_VALUES } from './largeWrites.ts'
import type { Preparation, RegistryDeps } from './preparation.ts'
import { nameTaken, refuseVersion } from './resourceVersions.ts'
import { withWork, workOf } from './works.ts'
import { type Written, written } from './written.ts'

/** One object on its way to be made. */
interface Creating {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly key: Key
  readonly text: Encoded
  readonly object: KubeObject
  readonly outcome: Outcome
}

export interface CreateOptions {
  /** Objects of other spaces say the same: the store may keep the body of the text once. */
  isShared?: boolean | undefined
}

const GENERATE_NAME_TRIES = 8

export class Creations {
  readonly #deps: RegistryDeps
  readonly #creates: CreatePreparation

  constructor(preparation: Preparation, deps: RegistryDeps) {
    this.#deps = deps
    this.#creates = new CreatePreparation(preparation)
  }

  /** `object` is in the version of `type`; it is taken over and changed. */
  async create(
    context: WriteContext,
    type: ResourceType,
    namespace: string,
    object: KubeObject,
    { isShared = false }: CreateOptions = {},
  ): Promise<Written> {
    refuseVersion(object)
    const { name, generateName: base } = object.metadata
    if (!name && typeof base === 'string' && base !== '')
      object.metadata.name = await this.#freeName(context.space, type, namespace, base)
    const working = withWork(context, workOf(this.#deps.turns, context, hasMoreValues(object, LARGE_VALUES)))
    if (working.work?.due) await working.work.rest()
    const outcome = new Outcome()
    let text: Encoded
    try {
      text = await this.#creates.prepare({ context: working, type, namespace, outcome, isShared }, object)
    } catch (error) {
      outcome.settle(undefined)
      throw error
    }
    const key = keyOf(context.space, type, namespace, object.metadata.name ?? '')
    const made = await this.put({ context, type, key, text, object, outcome })
    if ('created' in made) return made
    throw this.taken(type, object, made.taken)
  }

  /** Looked for before the object is prepared: whoever takes it in between is as unlikely as a name that is taken eight times. */
  async #freeName(space: string, type: ResourceType, namespace: string, base: string): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const name = generateName(base, this.#deps.random)
      const found = await this.#deps.store.get(keyOf(space, type, namespace, name))
      if (found === undefined || attempt === GENERATE_NAME_TRIES) return name
    }
  }

  /** Stores what was prepared, unless the name is taken. */
  async put({ context, type, key, text, object, outcome }: Creating): Promise<Written | { taken: Stored | undefined }> {
    let stored: Stored | undefined
    try {
      if (this.#deps.shared?.of(type, key.namespace)?.has(key.space, key.name))
        throw this.taken(type, object, undefined)
      if (context.dryRun) {
        const found = await this.#deps.store.get(key)
        if (found !== undefined) throw this.taken(type, object, found)
        const note = text.note !== undefined && { note: text.note }
        return {
          stored: { key, revision: 0, bytes: Buffer.from(textOfNone(text)), headBytes: 0, ...note },
          created: true,
        }
      }
      this.#requireMakeable(context.space, type)
      const result = await this.#deps.store.write({ key, mutation: { type: 'put', text }, expect: 0 })
      if (result.ok) {
        stored = result.stored
        const answer = written(stored, true, type)
        return answer instanceof Promise ? await answer : answer
      }
      if (result.refused) throw refusal(result.refused)
      return { taken: result.current }
    } finally {
      outcome.settle(stored)
    }
  }

  taken(type: ResourceType, wanted: KubeObject, by: Stored | undefined): StatusError {
    return nameTaken(type, wanted.metadata.name ?? '', wanted, by && this.#deps.parsed.get(by))
  }

  /**
   * Without this, an instance could stay behind unseen. Its definition began to go while the request was under way (in a webhook, say), and
   * lost its last instance. Writes in the store's queue before that begins go with the others.
   * @throws StatusError NotFound, MethodNotAllowed
   */
  #requireMakeable(space: string, type: ResourceType): void {
    if (type.custom === undefined) return
    const served = this.#deps.typeAt(space, type.group, type.version, type.resource)
    if (served === undefined) throw new StatusError('NotFound', 'the server could not find the requested resource')
    if (!served.verbs.includes('create')) throw statusError.methodNotAllowed(type, 'create')
  }
}
