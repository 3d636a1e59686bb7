/** A CustomResourceDefinition of `served.example.com` with all sub-resources. */
export function definitionOf(plural: string, scope: string, versions: string[]): object {
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.served.example.com` },
    spec: {
      group: 'served.example.com',
      scope,
      names: { plural, kind },
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, subresources, schema })),
    },
  }
}
