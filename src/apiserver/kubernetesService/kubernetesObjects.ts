/**
 * The Service `kubernetes` of the namespace `default` and what stands behind it: how programs inside a cluster find its server.
 * The fields are those that kube-apiserver writes.
 * @see https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
import { isIP } from 'node:net'
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import { KUBERNETES } from '../../apimachinery/kubernetesService.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'

export interface ServerAddress {
  /** An IP address. */
  address: string
  port: number
}

export interface KubernetesObjectsOptions extends ServerAddress {
  /** RFC 3339: their creationTimestamp. */
  since: string
  /** An IPv4 address. */
  clusterIp: string
}

interface KubernetesObject {
  readonly type: GroupResource
  readonly object: KubeObject
}

export function kubernetesObjects({ address, port, since, clusterIp }: KubernetesObjectsOptions): KubernetesObject[] {
  const metadata = (resource: string, labels: Record<string, string>) => ({
    ...KUBERNETES,
    uid: fixedUid(`${resource} ${KUBERNETES.namespace}/${KUBERNETES.name}`),
    creationTimestamp: since,
    labels,
  })
  const endpointPort = { name: 'https', port, protocol: 'TCP' }
  return [
    {
      type: { group: '', resource: 'services' },
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: metadata('services', { component: 'apiserver', provider: 'kubernetes' }),
        spec: {
          clusterIP: clusterIp,
          clusterIPs: [clusterIp],
          internalTrafficPolicy: 'Cluster',
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
          sessionAffinity: 'None',
          type: 'ClusterIP',
        },
        status: { loadBalancer: {} },
      },
    },
    {
      type: { group: '', resource: 'endpoints' },
      object: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        // The slice below says the same: nobody is to mirror one into a second.
        metadata: metadata('endpoints', { 'endpointslice.kubernetes.io/skip-mirror': 'true' }),
        subsets: [{ addresses: [{ ip: address }], ports: [endpointPort] }],
      },
    },
    {
      type: { group: 'discovery.k8s.io', resource: 'endpointslices' },
      object: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          ...metadata('endpointslices', { 'kubernetes.io/service-name': KUBERNETES.name }),
          generation: 1,
        },
        addressType: isIP(address) === 6 ? 'IPv6' : 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [endpointPort],
      },
    },
  ]
}
