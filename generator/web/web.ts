export interface WebAnswer {
  readonly status: 200 | 304 | 404
  readonly bytes: Buffer
  readonly etag: string | null
  readonly lastModified: string | null
}
export class WebFailure extends Error {
  readonly isNetwork: boolean
  readonly status: number | null
  constructor(message: string, options: { status?: number } = {}) {
    super(message)
    this.status = options.status ?? null
    this.isNetwork = this.status === null
  }
}
export declare class Web {
  constructor(options: object, token?: string)
  trust(url: string): void
  ask(
    url: string,
    options: { readonly etag?: string | null; readonly max: number; readonly timeoutMs: number },
  ): Promise<WebAnswer>
  read(url: string, max: number): Promise<Buffer | null>
  take<T>(url: string, use: (bytes: AsyncIterable<Uint8Array> | null) => Promise<T>): Promise<T>
  close(): Promise<void>
}
