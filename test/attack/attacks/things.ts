/** A custom resource for attacks that need a schema of their own. */
import type { Ground } from '../ground.ts'

/** A kind `Thing` of the group `greedy.example.com` with this schema, once it is served. */
export async function defineThings(
  { admin, alice, space }: Ground,
  schema: object,
  version: object = {},
): Promise<void> {
  const path = `${space.prefix}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
  const name = 'things.greedy.example.com'
  await alice.must({
    path,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: 'greedy.example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      },
    },
  })
  const watch = await admin.watch(`${path}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=0`)
  await watch.until(({ object }) => /"Established","status":"True"/.test(JSON.stringify(object.status ?? {})))
  watch.close()
}

export function thingsOf(prefix: string): string {
  return `${prefix}/apis/greedy.example.com/v1/namespaces/default/things`
}

export function thing(content: object): object {
  return { apiVersion: 'greedy.example.com/v1', kind: 'Thing', metadata: { generateName: 't-' }, ...content }
}
