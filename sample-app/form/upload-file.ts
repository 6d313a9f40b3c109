import type { SpooledFile } from './spooled-file.ts'

/**
 * An uploaded file. It starts at position 0 and is closed after the response; `write`, `read`, `seek` and `close` are
 * those of `file`, see there for what they promise.
 */
export class UploadFile {
  /** The name as the client sent it, directories included: show it, never open it. */
  readonly filename: string
  /** The media type the client claims, or null when it claims none. */
  readonly content_type: string | null
  /** The temporary file behind it. */
  readonly file: SpooledFile

  constructor(filename: string, contentType: string | null, file: SpooledFile) {
    this.filename = filename
    this.content_type = contentType
    this.file = file
  }

  write(data: Uint8Array): Promise<void> {
    return this.file.write(data)
  }

  read(size?: number): Promise<Buffer> {
    return this.file.read(size)
  }

  seek(offset: number): Promise<void> {
    return this.file.seek(offset)
  }

  close(): Promise<void> {
    return this.file.close()
  }
}
