/** Ranges of addresses and ports, as flags say them. */
import t from 'tap'
import { canonicalIp } from '../../../src/apiserver/serviceNetwork/canonicalIp.ts'
import { serviceNetwork } from '../../../src/apiserver/serviceNetwork/serviceRanges.ts'

t.test('a range gives its hosts, neither the network nor the broadcast address', async t => {
  const { addresses, kubernetesAddress } = serviceNetwork('10.96.0.0/24')
  t.equal(kubernetesAddress, '10.96.0.1')
  t.equal(addresses.size, 254)
  t.equal(addresses.at(253), '10.96.0.254')
  for (const address of ['10.96.0.1', '10.96.0.254']) t.ok(addresses.has(address), address)
  for (const address of ['10.96.0.0', '10.96.0.255', '10.96.1.1', '9.255.255.255', 'fd00::1', '', 'None']) {
    t.notOk(addresses.has(address), address)
  }
  t.equal(serviceNetwork('192.168.255.248/29').addresses.at(5), '192.168.255.254')
})

t.test('a part of a range is for those who choose themselves, as upstream computes it', async t => {
  const dynamic = (range: string) => serviceNetwork(range).addresses.dynamicFrom
  t.strictSame(['10.0.0.0/24', '10.0.0.0/20', '10.0.0.0/16', '10.0.0.0/29'].map(dynamic), [16, 255, 256, 0])
  const { ports } = serviceNetwork()
  t.strictSame([ports.size, ports.dynamicFrom, ports.at(0), ports.at(ports.size - 1)], [2768, 86, 30_000, 32_767])
  t.equal(serviceNetwork(undefined, '30000-30000').ports.size, 1)
  t.ok(ports.has(30_000) && ports.has(32_767))
  for (const port of [29_999, 32_768, -1, 30_000.5]) t.notOk(ports.has(port), `${port}`)
})

t.test('what is no range is refused by the name of its flag', async t => {
  for (const range of [
    '',
    '10.0.0.0',
    '10.0.0.1/16',
    '10.0.0.0/8',
    '10.0.0.0/30',
    'fd00::/108',
    '10.0.0.0/16,fd00::/108',
    '010.0.0.0/16',
  ]) {
    t.throws(() => serviceNetwork(range), { message: /--service-cluster-ip-range .*give one IPv4 range/ }, range)
  }
  for (const range of ['', '30000', '0-10', '30000-29999', '1-65536', 'a-b', '30000+2767']) {
    t.throws(() => serviceNetwork(undefined, range), { message: /--service-node-port-range .*give two ports/ }, range)
  }
})

t.test('one address has one text', async t => {
  t.equal(canonicalIp('2001:DB8:0:0::1'), '2001:db8::1')
  for (const same of ['10.0.0.1', 'None', 'x']) t.equal(canonicalIp(same), same)
})
