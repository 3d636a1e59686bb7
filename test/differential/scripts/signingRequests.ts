/** Rules for the certificate request inside a CertificateSigningRequest, before any approval. */
import { post, type Script, type Step } from '../script.ts'
import { of } from './bodies.ts'

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All'
/** For CN=x. */
const GOOD =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTm1lTk9kYXd0WGpDWGtNdnRCdjVZSXJDMEVjcHJoY2srTHRpNVpuWWRsRHhJbzFtaElDUmwzTTJ2U2NwcU80CmhjaUowTU41RWsvVjc4QUl4V0ZrenNDZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQnN2TEFDNzY5S2hkdXkKczFybW83aDdReFdSdGYva083ZStCamFPM1dpUnB3SWhBTzdhbzNTeHZmTGNYOGk3SENVNHhjQmdyM05CRDB3aQplY1JqdjgwY0doazcKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='
/** For CN=x, O=system:masters. */
const MASTERS =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkhqQ0JwQUlCQURBbE1Rb3dDQVlEVlFRRERBRjRNUmN3RlFZRFZRUUtEQTV6ZVhOMFpXMDZiV0Z6ZEdWeQpjekIyTUJBR0J5cUdTTTQ5QWdFR0JTdUJCQUFpQTJJQUJBV2N1TUw3NU94YTZtOStYcXg2V3JvYy9tM2NvNU1FCmlBRk41bC9QY2E0bFhPQlFSd01ZcHVXVS95TFJ0YzhCWTNZOGtUMjFWZUxFRnI3L3B0SndkMCtPR3daZHMvQmkKanVaekVST3FucFNzUUNHWkdQMUZGSm4xMVpJaWFIVHNtYUFBTUFvR0NDcUdTTTQ5QkFNQ0Eya0FNR1lDTVFDaQpZa2k2MDBnalNVeTNqcENzY3habWp3WjRuaHVKQXNrVU1pNHdEdStUK1Q4RVJocjN2ZWFDaTdNRy8xVmgreEFDCk1RQ3ZHK09KTE5zaWh3UmJpN01OYkJJMnNvdVJIVGJsUTRQQUZHcjFSc0ROTUxzNjlkR3YrbU1NaVpiSEVrOXcKRVRvPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'
const CLIENT = 'kubernetes.io/kube-apiserver-client'
const SHOWN = {
  '?body.message': 'it shows bytes, and why in the words of Go',
  '?body.details.causes.0.message': 'it shows bytes, and why in the words of Go',
}

const text = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1')
const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
const der = (base64: string): Buffer => Buffer.from(text(base64).replace(/-----.*-----|\s/g, ''), 'base64')
/** With another last byte, which belongs to the signature. */
const unsigned = (base64: string): string => {
  const bytes = der(base64)
  bytes[bytes.length - 1]! ^= 1
  return pem(bytes)
}

const asked = (request: string, signerName = 'example.com/s', usages: readonly string[] = ['client auth']): Step =>
  post(
    PATH,
    of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'r', {
      spec: { request: Buffer.from(request, 'latin1').toString('base64'), signerName, usages },
    }),
    { unlike120: { ...SHOWN, '?body.spec': 'the administrator is another person' } },
  )

export const signingRequests: Script = {
  name: 'signing-requests',
  steps: [
    ...[text(GOOD), `A request:\n${text(GOOD)}and more\n`, text(GOOD) + unsigned(GOOD)].map(one => asked(one)),
    ...[
      '',
      'no PEM',
      text(GOOD).replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
      text(GOOD).replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'),
      text(GOOD).replace(/-----END.*/, ''),
      pem(Buffer.alloc(0)),
      pem(Buffer.from('hello')),
      pem(Buffer.from('3003020101', 'hex')),
      pem(der(GOOD).subarray(0, -1)),
      pem(Buffer.concat([der(GOOD), Buffer.alloc(1)])),
      unsigned(GOOD),
    ].map(one => asked(one)),
    asked(unsigned(GOOD), 'nope', []),
    asked(text(MASTERS)),
    asked(text(MASTERS), CLIENT),
    asked(unsigned(MASTERS), CLIENT),
    asked(text(MASTERS), CLIENT, ['fly']),
  ],
}
