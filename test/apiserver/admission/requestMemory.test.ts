import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { asItIs, shownAs, takeBack } from '../../../src/apiserver/admission/attributes.ts'
import { remembered } from '../../../src/apiserver/admission/requestMemory.ts'
import type { AdmissionRequest } from '../../../src/apiserver/registry/admission.ts'

const type = { group: '', version: 'v1', resource: 'configmaps' } as ResourceType

function requestOf(object: KubeObject): AdmissionRequest {
  return { operation: 'CREATE', object, type, requestType: type } as unknown as AdmissionRequest
}

t.test('what is made of an object is made once for all who look, and anew when it has changed', async t => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } }
  const request = requestOf(object)
  let made = 0
  const look = (maker: object) => remembered(request, maker, () => ++made)
  const [one, other] = [{}, {}]
  t.same([look(one), look(one), look(other)], [1, 1, 2])
  const before = asItIs(request)
  const shown = shownAs(request, type).object!
  t.equal(shown, object, 'it is not copied to be shown')
  takeBack(request, type, { ...shown, data: { a: '2' } })
  t.same(before.data, { a: '1' }, 'what was before stays')
  t.same(request.object.data, { a: '2' })
  t.equal(request.object, object)
  t.equal(look(one), 3)
})
