/** Kinds and plurals of what a space holds objects of, as its objects tell: some speak of kinds, and objects are found by plurals. */
import {
  type GroupResource,
  type GroupVersionResource,
  type KubeObject,
  parseApiVersion,
} from '../../../apimachinery/object.ts'
import { resourceKey } from '../../../placement/words/names.ts'

export class KindNames {
  readonly #kinds = new Map<string, string>()
  /** By `group|kind`. */
  readonly #plurals = new Map<string, string>()

  learn(gvr: GroupVersionResource, { kind }: Pick<KubeObject, 'kind'>): void {
    const key = resourceKey(gvr)
    if (this.#kinds.get(key) === kind) return
    this.#kinds.set(key, kind)
    this.#plurals.set(`${gvr.group}|${kind}`, gvr.resource)
  }

  /** `''` of what no object was seen of. */
  kindOf(gr: GroupResource): string {
    return this.#kinds.get(resourceKey(gr)) ?? ''
  }

  resourceOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): GroupResource | undefined {
    const group = groupIn(apiVersion)
    const resource = this.#plurals.get(`${group}|${kind}`)
    return resource === undefined ? undefined : { group, resource }
  }
}

export function groupIn(apiVersion: string): string {
  return parseApiVersion(apiVersion)?.group ?? ''
}
