/** Where webhooks may be: which entries there are, what they allow, and that a name cannot change its meaning on the way. */
import type { LookupAddress } from 'node:dns'
import { networkInterfaces } from 'node:os'
import t from 'tap'
import { AllowedHosts, HostRefused } from '../../../src/apiserver/admission/allowedHosts.ts'
import * as fc from '../../support/fastCheck.ts'

const OWN = ['203.0.113.9', 'fe80::9%eth0', '2001:db8:1::9']
/** By what makes them closed. */
const CLOSED: Record<string, string[]> = {
  'the own host': ['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '::1', '::', '0:0:0:0:0:0:0:1'],
  'addresses of its interfaces': ['203.0.113.9', '::ffff:203.0.113.9', '2001:DB8:1:0::9'],
  'the link': ['169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1', 'fe80::1%eth0', 'fec0::1'],
  'unique-local': ['fc00::1', 'fd00:ec2::254', 'FD00:0EC2:0:0::254', 'fd20:ce::254', 'fd00:42::42', 'fdff::'],
  'IPv4 in IPv6': [
    '::ffff:169.254.169.254',
    '::FFFF:a9fe:a9fe',
    '0:0:0:0:0:ffff:7f00:1',
    '::169.254.169.254',
    '::7f00:1',
  ],
  'translated IPv4': [
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:fffe::1',
    '::ffff:0:7f00:1',
  ],
  tunnels: ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2001::1', '2001:0:ffff::', '192.88.99.1'],
  'providers of machines': ['100.100.100.200', '168.63.129.16', '192.0.0.192', '::ffff:100.100.100.200'],
  'many at once': ['224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1', 'ff02::1', 'ff0e::1'],
}

t.test('without a list everything is allowed but what is closed, in every spelling', async t => {
  const hosts = new AllowedHosts(undefined, () => OWN)
  for (const address of [
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '8.8.8.8',
    '2606:4700::1',
    '2001:db8::1',
  ]) {
    t.ok(hosts.allows(address, address), address)
    t.ok(hosts.allows(address, 'some.name'), address)
  }
  for (const [why, addresses] of Object.entries(CLOSED)) {
    for (const address of addresses) {
      t.notOk(hosts.allows(address, address), `${why}: ${address}`)
      t.notOk(hosts.allows(address, 'some.name'), `${why}: ${address}`)
      t.throws(() => hosts.check(address), HostRefused)
    }
  }
  t.ok(new AllowedHosts(['169.254.0.0/16']).allows('169.254.169.254', '169.254.169.254'), 'unless it is listed')
})

t.test('the addresses of this machine are closed', async t => {
  const own = Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(({ address }) => address))
  t.ok(own.length > 0)
  for (const address of own) t.notOk(new AllowedHosts().allows(address, address), address)
})

t.test('what is open by default can be opened together with more', async t => {
  const hosts = new AllowedHosts(['default', 'localhost', 'fd12:3456::/32'])
  for (const address of ['8.8.8.8', '127.0.0.1', '::1', 'fd12:3456:1::7']) t.ok(hosts.allows(address, address), address)
  for (const address of ['169.254.169.254', 'fd00:ec2::254']) t.notOk(hosts.allows(address, address), address)
})

t.test('a translation that is listed leads to what would be allowed, and to nothing else', async t => {
  const hosts = new AllowedHosts(['64:ff9b::/96', '2002::/16', '127.0.0.0/8'], () => OWN)
  for (const address of ['64:ff9b::8.8.8.8', '2002:808:808::1', '64:ff9b::7f00:1']) {
    t.ok(hosts.allows(address, address), address)
  }
  for (const address of ['64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '64:ff9b::203.0.113.9']) {
    t.notOk(hosts.allows(address, address), address)
  }
})

t.test('ranges and addresses allow what lies in them, under any name', async t => {
  const hosts = new AllowedHosts(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.255.0.1', '192.0.2.7', '2001:db8::7', '::ffff:10.0.0.1']) {
    t.ok(hosts.allows(address, address), address)
    t.ok(hosts.allows(address, 'some.name'), address)
  }
  for (const address of ['11.0.0.1', '192.0.2.8', '127.0.0.1', '2001:db9::1']) {
    t.notOk(hosts.allows(address, 'some.name'), address)
  }
})

t.test('names allow what they resolve to, but nothing that is closed', async t => {
  const hosts = new AllowedHosts(['hooks.example.com', '*.svc.example.com'])
  t.ok(hosts.allows('203.0.113.1', 'hooks.example.com'))
  t.ok(hosts.allows('203.0.113.1', 'HOOKS.example.com.'))
  t.ok(hosts.allows('10.0.0.1', 'a.b.svc.example.com'))
  for (const name of ['example.com', 'svc.example.com', 'hooksXexample.com', 'hooks.example.com.evil.org', 'x']) {
    t.notOk(hosts.allows('203.0.113.1', name), name)
  }
  for (const address of Object.values(CLOSED)
    .flat()
    .filter(each => !/203\.0|DB8/.test(each))) {
    t.notOk(hosts.allows(address, 'hooks.example.com'), address)
  }
  t.ok(new AllowedHosts(['localhost']).allows('127.0.0.1', 'localhost'))
  t.ok(new AllowedHosts(['localhost']).allows('::1', '::1'))
  t.notOk(new AllowedHosts(['*']).allows('10.0.0.1', '10.0.0.1'), 'a name pattern is no address pattern')
})

t.test('stars stand for any runs of characters, however many there are', async t => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 })
  const pattern = fc.stringMatching(/^[ab*]([ab*.]{0,8}[ab*])?$/)
  const asRegex = fc.property(pattern, text, (entry, host) => {
    const parts = entry.split('*').map(part => part.replaceAll('.', '\\.'))
    const wanted = new RegExp(`^${parts.join('.*')}$`).test(host.replace(/\.$/, ''))
    return new AllowedHosts([entry]).allows('203.0.113.1', host) === wanted
  })
  t.doesNotThrow(() => fc.assert(asRegex, { numRuns: 1200 }))
  // a backtracking matcher would not come back from this
  t.notOk(new AllowedHosts([`${'*a'.repeat(20)}*b`]).allows('203.0.113.1', 'a'.repeat(250)))
})

t.test('an address of no entry is never allowed', async t => {
  const hosts = new AllowedHosts(['10.0.0.0/8'])
  const honest = fc.property(fc.ipV4(), address => hosts.allows(address, address) === address.startsWith('10.'))
  t.doesNotThrow(() => fc.assert(honest, { numRuns: 500 }))
})

t.test('what is no entry is refused by name', async t => {
  for (const entry of [
    '',
    '10.0.0.0/33',
    '::1/129',
    'https://x',
    'a b',
    'host:443',
    '-x',
    'x/8',
    '10.0.0.0/8/8',
    '(.*)',
  ]) {
    t.throws(() => new AllowedHosts([entry]), {
      message: `${JSON.stringify(entry)} is no host name, address or CIDR range`,
    })
  }
})

t.test('a name is resolved once, and only allowed addresses of it are connected to', async t => {
  const resolved = (hosts: AllowedHosts, found: LookupAddress[], all: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      let asked = 0
      const lookup = hosts.lookup((_host, _options, callback) => {
        t.equal(++asked, 1)
        callback(null, found)
      })
      lookup('name', { all }, (error, address) => (error ? reject(error) : resolve(address)))
    })
  const evil = { address: '169.254.169.254', family: 4 }
  const good = { address: '10.0.0.1', family: 4 }
  const hosts = new AllowedHosts(['10.0.0.0/8'])
  t.strictSame(await resolved(hosts, [evil, good], true), [good])
  t.equal(await resolved(hosts, [evil, good], false), '10.0.0.1')
  await t.rejects(resolved(hosts, [evil], true), {
    message: "connecting to 169.254.169.254 (name) is not allowed by the server's --webhook-allowed-hosts",
    openly: "connecting to name is not allowed by the server's --webhook-allowed-hosts",
  })
})
