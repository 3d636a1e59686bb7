/** The packages that upstream names its OpenAPI definitions after. */

export const META_PACKAGE = 'io.k8s.apimachinery.pkg.apis.meta.v1'
/** The answer of `/version`. */
export const VERSION_DEFINITION = 'io.k8s.apimachinery.pkg.version.Info'

/** Packages that do not follow `io.k8s.api.<first label of the group>`. */
const PACKAGES: Readonly<Record<string, string>> = {
  '': 'io.k8s.api.core',
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'apiregistration.k8s.io': 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
}

/** `io.k8s.api.apps` for `apps`. Only for Kubernetes' own groups. */
export function definitionPackage(group: string): string {
  return PACKAGES[group] ?? `io.k8s.api.${group.split('.')[0]}`
}

/** `io.kubestellar.edge.v2alpha1.EdgePlacement`: how upstream names the definitions of custom resources. */
export function customDefinitionName(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}
