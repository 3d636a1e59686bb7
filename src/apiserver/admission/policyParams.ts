/**
 * The parameter objects of a policy binding.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Store } from '../../storage/store.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { storageGroup } from '../registry/convert.ts'
import { keyOf } from '../registry/keys.ts'
import { scanLabels } from '../registry/labelScanner.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { Binding, ParamRef, Policy } from './policyConfigurations.ts'

/** The policy cannot be applied as it is; the message is shown behind `failed to configure …`. */
export class PolicyConfigurationError extends Error {
  readonly of: 'policy' | 'binding'
  constructor(of: 'policy' | 'binding', message: string) {
    super(message)
    this.name = 'PolicyConfigurationError'
    this.of = of
  }
}

/** Reference to parameters. `namespace`: that of the request, `''` for cluster-scoped ones. */
interface Wanted {
  policy: Policy
  binding: Binding
  namespace: string
  work: Work
}

export class PolicyParams {
  readonly #store: Pick<Store, 'get' | 'list'>
  readonly #parsed: ParsedCache
  readonly #types: TypeRegistry

  constructor(deps: { store: Pick<Store, 'get' | 'list'>; parsed: ParsedCache; types: TypeRegistry }) {
    this.#store = deps.store
    this.#parsed = deps.parsed
    this.#types = deps.types
  }

  /**
   * One evaluation for each: `[null]` for a policy or a binding without parameters, `[]` when none was found and that is
   * fine. Read-only objects.
   * @throws PolicyConfigurationError, Abandoned
   */
  async of(
    space: string,
    { policy, binding: { paramRef }, namespace, work }: Wanted,
  ): Promise<readonly (Readonly<KubeObject> | null)[]> {
    const { paramKind } = policy
    if (paramKind === undefined) return [null]
    const { group, version, kind, text } = paramKind
    const type = this.#types
      .in(space)
      .types.find(each => each.group === group && each.version === version && each.kind === kind)
    if (type === undefined) {
      const gvk = `${group === '' ? version : `${group}/${version}`}, Kind=${kind}`
      const why = `failed to find resource referenced by paramKind: '${gvk}'`
      throw new PolicyConfigurationError('policy', why)
    }
    if (paramRef === undefined) return [null]
    const bad = (why: string) => new PolicyConfigurationError('binding', why)
    if (!type.namespaced && paramRef.namespace !== '') {
      throw bad('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    }
    const place = type.namespaced ? paramRef.namespace || namespace : ''
    if (type.namespaced && place === '') {
      throw bad('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
    }
    if (paramRef.name === '' && paramRef.selector === undefined) throw bad(`no name or selector for ${text}`)
    const found = await this.#find({ space, type, namespace: place }, paramRef, work)
    if (found.length === 0 && paramRef.deniesMissing) {
      throw bad('no params found for policy binding with `Deny` parameterNotFoundAction')
    }
    return found
  }

  /** A selector looks at all objects of the kind in the namespace, however many there are. */
  async #find(
    { space, type, namespace }: { space: string; type: { group: string; resource: string }; namespace: string },
    { name, selector }: ParamRef,
    work: Work,
  ): Promise<Readonly<KubeObject>[]> {
    if (name !== '') {
      const stored = await this.#store.get(keyOf(space, type, namespace, name))
      return stored ? [this.#parsed.get(stored)] : []
    }
    const range = { space, group: storageGroup(type), resource: type.resource, namespace }
    const { items } = await this.#store.list(range)
    const found: Readonly<KubeObject>[] = []
    for (const item of items) {
      if (work.due) await work.rest()
      const labels = scanLabels(item.bytes)
      const isWanted = selector?.matches(labels === 'unread' ? this.#parsed.get(item).metadata.labels : labels)
      if (isWanted) found.push(this.#parsed.get(item))
    }
    return found
  }
}
