/** Certificate requests approved, denied and signed through their sub-resources, and requests for tokens. */
import { apply, del, get, json, merge, post, put, type Rest, type Script, strategic } from '../script.ts'
import { of } from './bodies.ts'

const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const KIND = ['certificates.k8s.io/v1', 'CertificateSigningRequest'] as const
/** For CN=tester. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ITUNBUUF3RVRFUE1BMEdBMVVFQXd3R2RHVnpkR1Z5TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowRApBUWNEUWdBRXNNZ2wyZkl4WWhONTFRQ2hCOTdXMHZreXQ3dTJxSEYrUXo4cEhiQmNqSnZIYklVYitoUHVKeWt2CkxDSlN0dC9FZGwxTG9qQ0c3eC9VTGkrQzZvRWpVS0FBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSUhpYktLUUMKa2F4dHhLS1oyT1czZWlyWUljWXBoQmc2blZDSWJlQTdEOERzQWlFQW5kTnFzZXlobEJzVUE1RVZSREFiTnNFdwpibDFyNjl5R2FFK1drd3haS2tRPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'
const condition = (type: string, more: object = {}): object => ({
  type,
  status: 'True',
  reason: 'R',
  message: 'm',
  ...more,
})
/** Times are those of the servers; the administrator of Orrery has another name. */
const STATE: Rest = {
  unlike120: { '?body.status.conditions.*': 'an empty status has no conditions at all' },
  only: [
    'code',
    'message',
    'details',
    'metadata.labels',
    'spec.usages',
    'status.certificate',
    'status.conditions.*.type',
    'status.conditions.*.status',
    'status.conditions.*.message',
  ],
}

export const approvals: Script = {
  name: 'approvals',
  steps: [
    post(
      CSR,
      of(...KIND, 'a', { spec: { request: REQUEST, signerName: 'example.com/s', usages: ['client auth'] } }),
      STATE,
    ),
    merge(
      `${CSR}/a/approval`,
      {
        metadata: { labels: { a: 'b' } },
        spec: { usages: ['server auth'] },
        status: { certificate: 'QUFBQQ==', conditions: [condition('Approved')] },
      },
      STATE,
    ),
    json(`${CSR}/a/approval`, [{ op: 'replace', path: '/status/conditions/0/message', value: 'other' }], STATE),
    strategic(`${CSR}/a/approval`, { status: { conditions: [condition('Special')] } }, STATE),
    apply(
      `${CSR}/a/approval?fieldManager=applier&force=true`,
      of(...KIND, 'a', { status: { conditions: [condition('Special')] } }),
      STATE,
    ),
    merge(`${CSR}/a/approval`, { status: { conditions: [condition('Approved'), condition('Denied')] } }, STATE),
    merge(`${CSR}/a/approval`, { status: { conditions: null } }, STATE),
    merge(`${CSR}/a/approval`, { status: { conditions: [condition('Approved', { status: 'False' })] } }, STATE),
    put(`${CSR}/a/approval`, of(...KIND, 'other', {}), STATE),
    merge(
      `${CSR}/a/status`,
      { spec: { usages: ['server auth'] }, status: { conditions: [condition('Approved'), condition('Failed')] } },
      STATE,
    ),
    strategic(`${CSR}/a/status`, { status: { conditions: [condition('Approved'), condition('Failed')] } }, STATE),
    merge(`${CSR}/a`, { status: { conditions: [] } }, STATE),
    merge(`${CSR}/none/approval`, {}, STATE),
    post(`${CSR}/a/approval`, {}, STATE),
    del(`${CSR}/a/approval`, undefined, STATE),
    get(`${CSR}/a/approval`, STATE),
    del(`${CSR}/a`, undefined, { only: ['code', 'status'] }),
  ],
}
