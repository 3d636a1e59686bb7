/** Addresses of webhooks that cost the most to refuse. test/apimachinery/crd/crd.test.ts holds their rules. */
import t from 'tap'
import { SHOWN_CHARACTERS } from '../../src/apimachinery/fieldErrors.ts'
import { webhookServiceErrors, webhookUrlErrors } from '../../src/apimachinery/webhookAddress.ts'

t.test('a path of very many wrong segments has a few errors', async t => {
  for (const segment of ['/A', '/']) {
    const service = { namespace: 'a', name: 'b', path: segment.repeat(100_000) }
    const errors = webhookServiceErrors(service, 'service')
    t.equal(errors.length, 10, segment)
    t.match(errors[9]!.detail, /^segment\[9\]/)
  }
})

t.test('the refusal of a long url shows its beginning', async t => {
  const long = '\x7f'.repeat(100_000)
  const wide = '\x85'.repeat(100_000)
  for (const url of [`https://a/${long}`, `https://a:${wide}/`, `https://${wide} /`]) {
    const [error] = webhookUrlErrors(url, 'url')
    t.match(error!.detail, / \(and \d+ more characters\): /, url.slice(0, 12))
    t.ok(error!.detail.length < 13 * SHOWN_CHARACTERS)
  }
})
