import t from 'tap'
import {
  addressWarnings,
  canonicalAddress,
  cidr,
  ipAddress,
  isStrictlyWithin,
  ordinaryAddress,
  parseRange,
} from '../../../src/kinds/network/addresses.ts'
import * as fc from '../../support/fastCheck.ts'

const details = (errors: readonly { detail: string }[]) => errors.map(({ detail }) => detail)

t.test('elder fields take any form that all programs read alike', async t => {
  for (const fine of ['1.2.3.4', '::', 'FE80::1', '1:0:0:2::', '::1.2.3.4']) t.same(ipAddress(fine, 'f'), [], fine)
  t.same(details(ipAddress('010.2.3.4', 'f')), ['must not have leading 0s'])
  t.same(details(ipAddress('::ffff:1.2.3.4', 'f')), ['must not be an IPv4-mapped IPv6 address'])
  for (const odd of ['', 'a', '1.2.3', '1.2.3.256', '::1%eth0', '1.2.3.4/8', '1..2.3']) {
    t.match(details(ipAddress(odd, 'f')), [/^must be a valid IP address/], odd)
  }
})

t.test('newer fields take one form only', async t => {
  t.same(canonicalAddress('2001:db8::1:0:0:1'), [])
  t.same(canonicalAddress('2001:DB8:0:0:1:0:0:1'), ['must be in canonical form ("2001:db8::1:0:0:1")'])
  t.same(canonicalAddress('01.2.3.4'), ['must not have leading 0s'])
})

t.test('a canonical address is canonical, whatever it was made of', async t => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(groups, parts => {
      const long = parts.map(part => part.toString(16).padStart(4, '0')).join(':')
      const [warning = ''] = addressWarnings(long, 'f')
      const canonical = /\("(.*)"\)$/.exec(warning)?.[1] ?? long
      if (canonical.startsWith('::ffff:')) return
      t.same(canonicalAddress(canonical), [], long)
      // one network of one address, however it is written
      t.same(parseRange(`${canonical}/128`), parseRange(`${long}/128`))
    }),
    { numRuns: 200 },
  )
})

t.test('endpoints are no loopback, link-local or unspecified addresses', async t => {
  for (const fine of ['1.2.3.4', '2001:db8::1', '224.0.1.1']) t.same(ordinaryAddress(fine, 'f'), [], fine)
  for (const [address, what] of [
    ['0.0.0.0', /unspecified/],
    ['::', /unspecified/],
    ['127.9.9.9', /loopback/],
    ['::1', /loopback/],
    ['169.254.0.1', /link-local range/],
    ['fe90::1', /link-local range/],
    ['224.0.0.9', /link-local multicast/],
    ['ff02::1', /link-local multicast/],
  ] as const) {
    t.match(details(ordinaryAddress(address, 'f')), [what], address)
  }
})

t.test('ranges', async t => {
  for (const fine of ['10.0.0.0/8', '::/0', '2001:DB8::/32', '1.2.3.4/32']) t.same(cidr(fine, 'f'), [], fine)
  t.same(details(cidr('2001:DB8::/32', 'f', true)), ['must be in canonical form ("2001:db8::/32")'])
  t.same(details(cidr('10.0.0.1/8', 'f')), ['must not have bits set beyond the prefix length'])
  t.same(details(cidr('10.0.0.0/08', 'f')), ['must not have leading 0s in IP or prefix length'])
  t.same(details(cidr('::ffff:1.2.3.0/120', 'f')), ['must not have an IPv4-mapped IPv6 address'])
  for (const odd of ['', '10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/-1']) {
    t.match(details(cidr(odd, 'f')), [/^must be a valid CIDR value/], odd)
  }
  const within = (inner: string, outer: string) => isStrictlyWithin(parseRange(inner)!, parseRange(outer)!)
  t.equal(within('10.1.0.0/16', '10.0.0.0/8'), true)
  t.equal(within('10.0.0.0/8', '10.0.0.0/8'), false, 'not the whole')
  t.equal(within('11.0.0.0/16', '10.0.0.0/8'), false)
  t.equal(within('::/16', '10.0.0.0/8'), false, 'of the other family')
})
