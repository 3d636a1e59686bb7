/**
 * The Service `kubernetes` of the namespace `default`, its Endpoints and its EndpointSlice: each server has its own, which lead
 * to it. They never go from one server to another: there they would cut every program off from its cluster.
 */
import type { GroupResource } from './object.ts'

export const KUBERNETES = { namespace: 'default', name: 'kubernetes' } as const

const RESOURCES: Readonly<Record<string, string>> = {
  services: '',
  endpoints: '',
  endpointslices: 'discovery.k8s.io',
}

export function isKubernetesService({ group, resource }: GroupResource, namespace: string, name: string): boolean {
  return name === KUBERNETES.name && namespace === KUBERNETES.namespace && RESOURCES[resource] === group
}
