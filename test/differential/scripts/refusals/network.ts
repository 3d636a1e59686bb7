/** Refusals of the network kinds, field by field. */
import type { Script } from '../../script.ts'
import { IN, ofOtherGroup, type Refused, refuse, since, unlike } from './refuse.ts'

const ingresses: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  path: `/apis/networking.k8s.io/v1/${IN}/ingresses`,
}
const service = (port: object, name = 's'): object => ({ service: { name, port } })
const BACKEND = service({ number: 80 })
const paths = (...all: readonly object[]): object => ({
  spec: { rules: [{ http: { paths: all.map(path => ({ backend: BACKEND, ...path })) } }] },
})
const classes: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  path: '/apis/networking.k8s.io/v1/ingressclasses',
}
const policies: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  path: `/apis/networking.k8s.io/v1/${IN}/networkpolicies`,
}
const from = (...peers: readonly object[]): object => ({ spec: { podSelector: {}, ingress: [{ from: peers }] } })
const ports = (...all: readonly object[]): object => ({ spec: { podSelector: {}, egress: [{ ports: all }] } })
const slices: Refused = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  path: `/apis/discovery.k8s.io/v1/${IN}/endpointslices`,
  base: { addressType: 'IPv4', endpoints: [], ports: [] },
}
const endpoint = (rest: object): object => ({ endpoints: [{ addresses: ['1.2.3.4'], ...rest }] })
const addresses: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  path: '/apis/networking.k8s.io/v1/ipaddresses',
}
const ranges: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
}
const cidrs = (...all: readonly string[]): object => since('1.33', { spec: { cidrs: all } })
const parent = (name: string, parentRef?: object): object =>
  since('1.33', { metadata: { name }, spec: { ...(parentRef && { parentRef }) } })

export const networkRefusals: Script = {
  name: 'refusals-network',
  steps: [
    ...ofOtherGroup(
      refuse(
        ingresses,
        { spec: {} },
        { spec: { defaultBackend: {} } },
        { spec: { defaultBackend: { ...BACKEND, resource: { kind: 'a', name: 'b' } } } },
        unlike('elder words', { spec: { defaultBackend: { resource: { apiGroup: 'A', kind: '', name: 'a/b' } } } }),
        { spec: { defaultBackend: service({ number: 80, name: 'http' }) } },
        { spec: { defaultBackend: service({ number: 99_999 }) } },
        unlike('elder words', { spec: { defaultBackend: service({ name: 'UPPER' }) } }),
        { spec: { defaultBackend: service({}, '') } },
        paths({ path: '/' }),
        paths(
          { path: 'a', pathType: 'Exact' },
          { pathType: 'Prefix' },
          { path: 'a', pathType: 'ImplementationSpecific' },
        ),
        paths({ path: '/a//b/./../c%2f%2F/..', pathType: 'Prefix' }, { path: '/.', pathType: 'Exact' }),
        paths({ path: '/', pathType: 'Sometimes' }),
        { spec: { rules: [{ host: '1.2.3.4' }, { host: '*.a_b' }, { host: 'UPPER' }, { http: { paths: [] } }] } },
        { spec: { defaultBackend: BACKEND, tls: [{ hosts: ['*', 'A'], secretName: 'a_b' }], ingressClassName: 'a_b' } },
        unlike('elder words', {
          spec: { defaultBackend: BACKEND, ingressClassName: 'a' },
          metadata: { annotations: { 'kubernetes.io/ingress.class': 'b' } },
        }),
      ),
    ),
    ...refuse(
      classes,
      { spec: {} },
      { spec: { controller: 'a' } },
      { spec: { controller: 'A/b c' } },
      unlike('elder words', { spec: { controller: `a.b/${'c'.repeat(250)}` } }),
      unlike('elder words', { spec: { controller: 'a/b', parameters: { apiGroup: 'A', kind: '', name: 'a/b' } } }),
      since('1.21: scopes', { spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Here' } } }),
      since('1.21: scopes', { spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Namespace' } } }),
      since('1.21: scopes', {
        spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Cluster', namespace: 'x' } },
      }),
    ),
    ...ofOtherGroup(
      refuse(
        policies,
        from({}),
        from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }),
        unlike('elder words', from({ ipBlock: { cidr: '' } }, { ipBlock: { cidr: '1.2.3' } })),
        unlike(
          'it stops at the first that cannot be read',
          from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', 'x', '10.0.0.0/8'] } }),
        ),
        unlike('1.36: strict forms', from({ ipBlock: { cidr: '10.0.0.1/8' } }, { ipBlock: { cidr: '010.0.0.0/8' } })),
        ports({ port: 0, protocol: 'TCP' }, { port: 'a--b' }, { protocol: 'ICMP' }),
        since(
          '1.21: ranges of ports',
          ports({ port: 80, endPort: 79 }, { endPort: 80 }, { port: 'http', endPort: 80 }),
        ),
        since('1.21: ranges of ports', ports({ port: 80, endPort: 70_000 })),
        { spec: { podSelector: { matchLabels: { 'a b': 'c' } }, policyTypes: ['Sideways'] } },
        { spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress', 'Ingress'] } },
      ),
    ),
    ...refuse(
      slices,
      ...[
        { addressType: '' },
        { addressType: 'Mail' },
        { endpoints: [{ addresses: [] }] },
        { endpoints: [{ addresses: ['::1', '127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.1'] }] },
        { addressType: 'IPv6', endpoints: [{ addresses: ['1.2.3.4', 'fe80::1', '::'] }] },
        { addressType: 'FQDN', endpoints: [{ addresses: ['a_b.c', 'local', `${'a'.repeat(64)}.b`] }] },
        endpoint({ hostname: 'A', nodeName: 'a_b', deprecatedTopology: { 'a b': 'c' } }),
        endpoint({ hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'a b' }] } }),
        endpoint({ hints: { forZones: 'abcdefghi'.split('').map(name => ({ name })) } }),
        endpoint({ hints: { forNodes: [{ name: 'A' }] } }),
        { ports: [{ name: 'A' }, { name: 'b' }, { name: 'b', protocol: 'ICMP', appProtocol: 'a b' }] },
      ].map(body => since('1.21: v1', body)),
    ),
    ...refuse(
      addresses,
      parent('x', { resource: 'services', name: 's' }),
      parent('010.0.0.1', { resource: 'services', name: 's' }),
      parent('fe80::0001', { resource: 'services', name: 's' }),
      parent('10.0.0.1'),
      parent('10.0.0.1', { group: 'A', resource: '', name: 'a/b', namespace: 'c%d' }),
    ),
    ...refuse(
      ranges,
      cidrs(),
      cidrs('10.0.0.0/8', '2001:db8::/64', '11.0.0.0/8'),
      cidrs('10.0.0.0/8', '11.0.0.0/8'),
      cidrs('10.0.0.1/8', '2001:DB8::/64'),
    ),
  ],
}
