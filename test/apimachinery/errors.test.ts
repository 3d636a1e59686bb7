/** Status bodies that clients read: what is in them, and what is not. */
import t from 'tap'
import { StatusError, statusError } from '../../src/apimachinery/errors.ts'
import { fieldError } from '../../src/apimachinery/fieldErrors.ts'

t.test('an internal error tells its cause in words alone: there is no reason to act upon', t => {
  t.strictSame(statusError.internal(new Error('the roof is on fire')).toStatus(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Internal error occurred: the roof is on fire',
    reason: 'InternalError',
    details: { causes: [{ message: 'the roof is on fire' }] },
    code: 500,
  })
  t.end()
})

t.test('an error survives the way through its body, also one of a newer server', t => {
  const error = statusError.conflict({ group: 'apps', resource: 'deployments' }, 'web', 'no')
  t.strictSame(StatusError.fromStatus(error.toStatus(), 409).toStatus(), error.toStatus())
  t.match(StatusError.fromStatus({ reason: 'Novel', message: 'm' }, 409), { code: 409, message: 'm' })
  t.match(StatusError.fromStatus({}, 503), { reason: 'ServiceUnavailable', message: 'the server answered 503' })
  t.end()
})

t.test('what is invalid is told once, and of very much the beginning', t => {
  const kind = { group: 'apps', kind: 'Deployment' }
  const [one, two] = [fieldError.required('spec.a'), fieldError.invalid('spec.b', 1, 'must be 2')]
  const few = statusError.invalid(kind, 'web', [one, two, { ...one }])
  t.equal(
    few.message,
    'Deployment.apps "web" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]',
  )
  t.strictSame(
    few.details?.causes?.map(({ field }) => field),
    ['spec.a', 'spec.b'],
  )
  const scopes = Array.from({ length: 30_000 }, (_, i) => `scope-${i}`)
  const many = statusError.invalid(
    kind,
    'web',
    scopes.map((_, i) => fieldError.invalid(`spec.scopes[${i}]`, scopes, 'unsupported scope')),
  )
  t.match(many.message, /: unsupported scope, and 29\d{3} more\]$/, 'each of them shows some of the list')
  t.ok(many.message.length < 300_000)
  t.ok((many.details?.causes ?? []).length < 100)
  t.end()
})
