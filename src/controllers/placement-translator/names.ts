/** Names that the placement translator writes and reads: labels, annotations, resources, keys of objects. */
import type { GroupResource, GroupVersionResource } from '../../apimachinery/object.ts'

export const FIELD_MANAGER = 'placement-translator'
/** The one SyncerConfig that the translator keeps in each mailbox. */
export const SYNCER_CONFIG_NAME = 'the-one'

export const PROJECTED_LABEL = 'edge.kubestellar.io/projected'
export const PROJECTED_VALUE = 'yes'
export const EXPAND_ANNOTATION = 'edge.kubestellar.io/expand-parameters'
export const CUSTOMIZER_ANNOTATION = 'edge.kubestellar.io/customizer'
export const EXECUTING_COUNT_ANNOTATION = 'kubestellar.io/executing-count'
/** On the object in the WDS: what went wrong while it was customized. Never projected. */
export const CUSTOMIZATION_ERROR_ANNOTATION = 'edge.kubestellar.io/customization-error'
/** On the copy: which keys and fields came from the source, so that their removal reaches the copy too. */
export const PROJECTED_KEYS_ANNOTATION = 'edge.kubestellar.io/projected-keys'
/** On the copy: ids of the spaces that it was made from, comma-separated. */
export const PROJECTED_FROM_ANNOTATION = 'edge.kubestellar.io/projected-from'

/** The syncer's marks on what it carried. They say something about one object in one place, so no source's travels. */
export const SYNCER_MARKS = ['edge.kubestellar.io/downsynced', 'edge.kubestellar.io/upsynced'] as const

const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
export const EDGE_PLACEMENTS = edge('edgeplacements')
export const SLICES = edge('singleplacementslices')
export const LOCATIONS = edge('locations')
export const CUSTOMIZERS = edge('customizers')
export const SYNCER_CONFIGS = edge('syncerconfigs')
export const NAMESPACES: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' }
export const CRDS: GroupVersionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/** `group|resource`: no group, resource or name holds a bar. */
export function resourceKey(gr: GroupResource): string {
  return `${gr.group}|${gr.resource}`
}

/** `group|resource|namespace|name`, without a version: the same object whatever version it is read at. */
export function objectKey(gr: GroupResource, namespace: string, name: string): string {
  return `${gr.group}|${gr.resource}|${namespace}|${name}`
}

export function namespaceKey(name: string): string {
  return objectKey(NAMESPACES, '', name)
}

export function parseObjectKey(key: string): GroupResource & { namespace: string; name: string } {
  const [group = '', resource = '', namespace = '', ...name] = key.split('|')
  return { group, resource, namespace, name: name.join('|') }
}
