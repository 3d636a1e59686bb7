/** Advertised address of a server: the operator's choice, else a derived one. */
import type { NetworkInterfaceInfo } from 'node:os'
import t from 'tap'
import { advertisedAddress } from '../../../src/apiserver/kubernetesService/advertisedAddress.ts'

const at = (address: string, internal = false): NetworkInterfaceInfo =>
  ({ address, internal, family: address.includes(':') ? 'IPv6' : 'IPv4' }) as NetworkInterfaceInfo
const interfaces = {
  lo: [at('127.0.0.1', true), at('::1', true)],
  eth0: [at('169.254.7.7'), at('fe80::1'), at('2001:db8::2'), at('192.0.2.2')],
}
const onlySix = { lo: interfaces.lo, eth0: [at('2001:db8::2')] }
const none = { lo: interfaces.lo }
const of = (sources: Partial<Parameters<typeof advertisedAddress>[0]>): string =>
  advertisedAddress({ externalHostnames: [], bindAddress: '127.0.0.1', interfaces, ...sources })

t.test('what was said counts, and must be an address', async t => {
  t.equal(of({ advertiseAddress: '192.0.2.9', externalHostnames: ['192.0.2.8'] }), '192.0.2.9')
  for (const wrong of ['orrery.example.org', '0.0.0.0', '::', '']) {
    t.throws(() => of({ advertiseAddress: wrong }), { message: /--advertise-address .*give the IP address/ })
  }
})

t.test('an external address comes before the one that is bound; names are not resolved', async t => {
  t.equal(of({ externalHostnames: ['orrery.example.org', '192.0.2.8'], bindAddress: '0.0.0.0' }), '192.0.2.8')
  t.equal(of({ externalHostnames: ['orrery.example.org'], bindAddress: '192.0.2.5' }), '192.0.2.5')
})

t.test('who listens everywhere is reached at the first address of the machine that leads there', async t => {
  t.equal(of({ bindAddress: '0.0.0.0' }), '192.0.2.2')
  t.equal(of({ bindAddress: '::' }), '192.0.2.2')
  t.equal(of({ bindAddress: '::', interfaces: onlySix }), '2001:db8::2')
  t.equal(of({ bindAddress: '0.0.0.0', interfaces: onlySix }), '127.0.0.1', 'nobody listens on IPv6')
  t.equal(of({ bindAddress: '0.0.0.0', interfaces: none }), '127.0.0.1')
})

t.test('who listens on a loopback address is reached there, and nowhere else', async t => {
  t.equal(of({}), '127.0.0.1')
  t.equal(of({ bindAddress: '::1' }), '::1')
  t.equal(of({ bindAddress: 'localhost' }), '127.0.0.1')
})
