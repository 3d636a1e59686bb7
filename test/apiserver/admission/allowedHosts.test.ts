/** Where webhooks may be: which entries there are, what they allow, and that a name cannot change its meaning on the way. */
import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import t from 'tap'
import { AllowedHosts, HostRefused } from '../../../src/apiserver/admission/allowedHosts.ts'

t.test('without a list everything is allowed but link-local addresses', async t => {
  const hosts = new AllowedHosts()
  for (const address of ['127.0.0.1', '::1', '10.1.2.3', '8.8.8.8', '2001:db8::1']) {
    t.ok(hosts.allows(address, address), address)
    t.ok(hosts.allows(address, 'some.name'), address)
  }
  for (const address of ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', 'febf::1']) {
    t.notOk(hosts.allows(address, address), address)
    t.notOk(hosts.allows(address, 'some.name'), address)
    t.throws(() => hosts.check(address), HostRefused)
  }
  t.ok(new AllowedHosts(['169.254.0.0/16']).allows('169.254.169.254', '169.254.169.254'), 'unless it is listed')
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

t.test('names allow what they resolve to, but not the own host or link', async t => {
  const hosts = new AllowedHosts(['hooks.example.com', '*.svc.example.com'])
  t.ok(hosts.allows('203.0.113.1', 'hooks.example.com'))
  t.ok(hosts.allows('203.0.113.1', 'HOOKS.example.com.'))
  t.ok(hosts.allows('10.0.0.1', 'a.b.svc.example.com'))
  for (const name of ['example.com', 'svc.example.com', 'hooksXexample.com', 'hooks.example.com.evil.org', 'x']) {
    t.notOk(hosts.allows('203.0.113.1', name), name)
  }
  for (const address of ['127.0.0.1', '::1', '0.0.0.0', '::', '169.254.1.1', 'fe80::1', '::ffff:127.0.0.1']) {
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
  t.doesNotThrow(() => fc.assert(asRegex, { numRuns: 2000 }))
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
  })
})
