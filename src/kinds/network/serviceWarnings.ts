/** Upstream's warnings for a Service or Endpoints. */

import { list, record, records, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { addressWarnings, cidrWarnings } from './addresses.ts'

export function serviceWarnings(service: KubeObject): string[] {
  const spec = record(service, 'spec')
  const headless = spec.type === 'ClusterIP' && spec.clusterIP === 'None'
  const named = spec.type === 'ExternalName'
  const external = strings(spec, 'externalIPs')
  const warnings: string[] = []
  const warn = (when: boolean, text: string): void => {
    if (when) warnings.push(text)
  }
  const hints = 'service.kubernetes.io/topology-aware-hints'
  warn(
    service.metadata.annotations?.[hints] !== undefined,
    `annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`,
  )
  if (!headless && !named) {
    for (const [i, ip] of strings(spec, 'clusterIPs').entries()) {
      warnings.push(...addressWarnings(ip, `spec.clusterIPs[${i}]`))
    }
  }
  warn(headless && str(spec, 'loadBalancerIP') !== '', 'spec.loadBalancerIP is ignored for headless services')
  warn(headless && external.length > 0, 'spec.externalIPs is ignored for headless services')
  warn(headless && spec.sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services')
  for (const [i, ip] of external.entries()) warnings.push(...addressWarnings(ip, `spec.externalIPs[${i}]`))
  warn(
    external.length > 0 && !headless && !named,
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  )
  if (str(spec, 'loadBalancerIP') !== '') {
    warnings.push(...addressWarnings(str(spec, 'loadBalancerIP'), 'spec.loadBalancerIP'))
  }
  const ranges = strings(spec, 'loadBalancerSourceRanges')
  for (const [i, range] of ranges.entries()) {
    warnings.push(...cidrWarnings(range, `spec.loadBalancerSourceRanges[${i}]`))
  }
  warn(named && external.length > 0, 'spec.externalIPs is ignored when spec.type is "ExternalName"')
  warn(!named && str(spec, 'externalName') !== '', 'spec.externalName is ignored when spec.type is not "ExternalName"')
  warn(
    spec.trafficDistribution === 'PreferClose',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  )
  return warnings
}

export function endpointsWarnings(endpoints: KubeObject): string[] {
  // the controller knows what it writes
  if (endpoints.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return []
  return records(endpoints, 'subsets').flatMap((subset, i) =>
    ['addresses', 'notReadyAddresses']
      .filter(kind => list(subset, kind).length > 0)
      .flatMap(kind =>
        records(subset, kind).flatMap((address, j) =>
          addressWarnings(str(address, 'ip'), `subsets[${i}].${kind}[${j}].ip`),
        ),
      ),
  )
}
