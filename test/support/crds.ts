/** CustomResourceDefinitions for tests: made and changed, and waited for until the server says that it has taken them up. */
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { Api } from './api.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export interface Crds {
  path(name: string): string
  /** Makes a CRD and waits until it is established. */
  define(body: object): Promise<KubeObject>
  /** Gives a CRD another spec; the answer to a request afterwards is by the new one. */
  change(body: { metadata: { name: string }; spec: object }): Promise<KubeObject>
  /** Waits until a CRD is in a state. */
  until(name: string, reached: (crd: KubeObject) => boolean): Promise<KubeObject>
}

export function crdsIn(space: Api): Crds {
  const path = (name: string): string => `${CRDS}/${name}`
  const until = async (name: string, reached: (crd: KubeObject) => boolean): Promise<KubeObject> => {
    const watch = await space.watch(`${CRDS}?watch=1&fieldSelector=metadata.name=${name}`)
    const events = await watch.until(event => reached(event.object))
    watch.close()
    return events.at(-1)!.object
  }
  return {
    path,
    until,
    async define(body) {
      const { metadata } = await space.ok(space.post(CRDS, body))
      return until(metadata.name!, crd => conditionsOf(crd).Established === 'True')
    },
    async change({ metadata: { name }, spec }) {
      const current = await space.ok(space.get(path(name)))
      return space.ok(space.put(path(name), { ...current, spec }))
    },
  }
}

/** Status by type. */
export function conditionsOf(crd: KubeObject): Record<string, string> {
  const { conditions } = (crd.status ?? {}) as { conditions?: { type: string; status: string }[] | null }
  return Object.fromEntries((conditions ?? []).map(({ type, status }) => [type, status]))
}
