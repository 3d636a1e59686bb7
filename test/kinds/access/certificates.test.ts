/** A CertificateSigningRequest that nobody could mean is refused before it is read, and not shown once more. */
import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { certificateStrategies, LONGEST_REQUEST } from '../../../src/kinds/access/certificates.ts'

const strategy = certificateStrategies['certificates.k8s.io/certificatesigningrequests']!
const errors = (spec: object): string[] => {
  const object: KubeObject = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'c' },
    spec: { signerName: 'example.com/x', usages: ['client auth'], ...spec },
  }
  return strategy.validate!(object).map(formatFieldError)
}

t.test('a long request', async t => {
  t.same(errors({ request: 'A'.repeat(LONGEST_REQUEST + 4) }), [
    `spec.request: Too long: may not be more than ${LONGEST_REQUEST} bytes`,
  ])
})

t.test('very many usages', async t => {
  t.same(errors({ request: 'AAAA', usages: Array.from({ length: 40_000 }, (_, i) => `u${i}`) }), [
    'spec.usages: Too many: 40000: must have at most 100 items',
  ])
})

t.test('a value that is shown is cut', async t => {
  const [error = ''] = errors({ request: 'A'.repeat(20_000) })
  t.match(error, /^spec\.request: Invalid value: "A{4096}" \(and 15904 more characters\): PEM block type must be /)
  t.ok(error.length < 5000)
})
