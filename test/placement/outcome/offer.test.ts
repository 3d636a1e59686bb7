/** A cluster's offer is reported within bounds, which hold for any syncer's report. */
import t from 'tap'
import {
  MAX_OFFER_BYTES,
  MAX_OFFERED,
  MAX_OFFERED_VERSIONS,
  type OfferedResource,
  offerOf,
  readOffer,
} from '../../../src/placement/outcome/offer.ts'

const bad = (field: string, why: string): Error => new Error(`${field}: ${why}`)
const maps: OfferedResource = { group: '', resource: 'configmaps', versions: ['v1'] }
const many = (n: number, group = 'x.test'): OfferedResource[] =>
  Array.from({ length: n }, (_, i) => ({ group, resource: `kind${String(i).padStart(5, '0')}`, versions: ['v1'] }))

t.test('it is sorted, so that the same is said in the same words', t => {
  const sets = { group: 'apps', resource: 'replicasets', versions: ['v1', 'v1beta1'] }
  const secrets = { ...maps, resource: 'secrets' }
  t.same(offerOf([sets, secrets, maps]), { resources: [maps, secrets, sets], unlisted: 0 })
  t.end()
})

for (const [what, kinds] of [
  ['short', many(5000, 'x')],
  ['long', many(5000, `${'x'.repeat(240)}.test`)],
] as const)
  t.test(`of more kinds than are told the rest is counted, and the center takes it: ${what} names`, t => {
    const offer = offerOf(kinds)
    t.equal(offer.resources.length + offer.unlisted, 5000)
    t.ok(offer.resources.length > 100)
    t.same(readOffer(JSON.parse(JSON.stringify(offer)), bad), offer)
    t.end()
  })

t.test('what the center would not take is not told', t => {
  const versions = Array.from({ length: 30 }, (_, i) => `v${i}`)
  const offer = offerOf([
    { group: 'x.test', resource: 'Odd', versions: ['v1'] },
    { group: 'x.test', resource: 'none', versions: ['V 1'] },
    { group: 'x.test', resource: 'gears', versions },
  ])
  t.same(offer, {
    resources: [{ group: 'x.test', resource: 'gears', versions: versions.slice(0, MAX_OFFERED_VERSIONS) }],
    unlisted: 2,
  })
  readOffer(offer, bad)
  t.end()
})

for (const [what, offer, message] of [
  ['no object', 'all', /^offer: must be an object/],
  ['no list', { resources: 'all' }, /^offer.resources: must be a list/],
  ['too many', { resources: many(MAX_OFFERED + 1) }, /^offer.resources: has 2001 items; at most 2000/],
  ['too long', { resources: many(1500, 'x'.repeat(100)) }, new RegExp(`at most ${MAX_OFFER_BYTES} bytes`)],
  ['an item that is none', { resources: [maps, null] }, /^offer.resources\[1\]: must be an object/],
  ['a group of words', { resources: [{ ...maps, group: 'a b' }] }, /^offer.resources\[0\].group: must be a DNS name/],
  ['no resource', { resources: [{ ...maps, resource: '' }] }, /^offer.resources\[0\].resource: must be a DNS/],
  ['an endless name', { resources: [{ ...maps, resource: 'x'.repeat(254) }] }, /at most 253/],
  ['no version', { resources: [{ ...maps, versions: [] }] }, /versions: must be a list of 1 to 20 versions/],
  ['a version that is none', { resources: [{ ...maps, versions: ['v1', 1] }] }, /versions: must be DNS labels/],
  ["a terminal's word", { resources: [{ ...maps, versions: ['v1\u001b[2J'] }] }, /versions: must be DNS labels/],
  ['one twice', { resources: [maps, maps] }, /^offer.resources\[1\]: names configmaps. a second time/],
  ['a count below nought', { resources: [], unlisted: -1 }, /^offer.unlisted: must be a whole number/],
] as const)
  t.test(`refused: ${what}`, t => {
    t.throws(() => readOffer(offer, bad), { message })
    t.end()
  })
