package martite.files;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.compress.BlockCompressorStream;
import org.apache.hadoop.io.compress.BlockDecompressorStream;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;

/**
 * ZSTD in Hadoop's block stream: the layout of the zstd codecs that HBase has as modules of its own. Hadoop's native codec writes
 * bare frames under the same number.
 */
public class ZstdBlockCodec extends Configured implements CompressionCodec {
  private static final int BUFFER = 256 << 10;

  public ZstdBlockCodec() {
    super(new Configuration(false));
  }

  @Override
  public CompressionOutputStream createOutputStream(OutputStream out) throws IOException {
    return createOutputStream(out, createCompressor());
  }

  @Override
  public CompressionOutputStream createOutputStream(OutputStream out, Compressor compressor) throws IOException {
    return new BlockCompressorStream(out, compressor, BUFFER, (int) Zstd.compressBound(BUFFER) - BUFFER);
  }

  @Override
  public CompressionInputStream createInputStream(InputStream in) throws IOException {
    return createInputStream(in, createDecompressor());
  }

  @Override
  public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor) throws IOException {
    return new BlockDecompressorStream(in, decompressor, BUFFER);
  }

  @Override
  public Class<? extends Compressor> getCompressorType() {
    return Deflate.class;
  }

  @Override
  public Compressor createCompressor() {
    return new Deflate();
  }

  @Override
  public Class<? extends Decompressor> getDecompressorType() {
    return Inflate.class;
  }

  @Override
  public Decompressor createDecompressor() {
    return new Inflate();
  }

  @Override
  public String getDefaultExtension() {
    return ".zst";
  }

  /** What goes in waits here until it is asked for; what comes out is handed over in pieces. */
  private abstract static class Chunk {
    private byte[] in = new byte[0];
    private byte[] out = new byte[0];
    private int taken;

    /** One chunk into the other form; {@code limit} bounds what becomes plain. */
    abstract byte[] turn(byte[] input, int limit) throws IOException;

    public void setInput(byte[] bytes, int offset, int length) {
      int end = in.length;
      in = Arrays.copyOf(in, end + length);
      System.arraycopy(bytes, offset, in, end, length);
    }

    int take(byte[] bytes, int offset, int length) throws IOException {
      if (taken == out.length && in.length > 0) {
        out = turn(in, BUFFER);
        in = new byte[0];
        taken = 0;
      }
      int count = Math.min(length, out.length - taken);
      System.arraycopy(out, taken, bytes, offset, count);
      taken += count;
      return count;
    }

    boolean isEmpty() {
      return in.length == 0 && taken == out.length;
    }

    public void setDictionary(byte[] bytes, int offset, int length) {
      throw new UnsupportedOperationException("dictionaries");
    }

    public void reset() {
      in = new byte[0];
      out = in;
      taken = 0;
    }

    public void end() {
      reset();
    }
  }

  static final class Deflate extends Chunk implements Compressor {
    private long read;
    private long written;
    private boolean finishing;

    @Override
    byte[] turn(byte[] input, int limit) {
      return Zstd.compress(input);
    }

    @Override
    public void setInput(byte[] bytes, int offset, int length) {
      read += length;
      super.setInput(bytes, offset, length);
    }

    @Override
    public int compress(byte[] bytes, int offset, int length) throws IOException {
      int count = take(bytes, offset, length);
      written += count;
      return count;
    }

    @Override
    public long getBytesRead() {
      return read;
    }

    @Override
    public long getBytesWritten() {
      return written;
    }

    @Override
    public void finish() {
      finishing = true;
    }

    /** The stream ends a chunk before it is larger than the buffer. */
    @Override
    public boolean needsInput() {
      return true;
    }

    @Override
    public boolean finished() {
      return finishing && isEmpty();
    }

    @Override
    public void reset() {
      super.reset();
      read = 0;
      written = 0;
      finishing = false;
    }

    @Override
    public void reinit(Configuration conf) {
      reset();
    }
  }

  static final class Inflate extends Chunk implements Decompressor {
    @Override
    byte[] turn(byte[] input, int limit) throws IOException {
      long length = Zstd.getFrameContentSize(input);
      if (length < 0 || length > limit) {
        throw new IOException("a zstd frame of " + length + " bytes");
      }
      return Zstd.decompress(input, (int) length);
    }

    @Override
    public boolean needsInput() {
      return isEmpty();
    }

    /** A stream may go on after any chunk. */
    @Override
    public boolean finished() {
      return false;
    }

    @Override
    public boolean needsDictionary() {
      return false;
    }

    @Override
    public int decompress(byte[] bytes, int offset, int length) throws IOException {
      return take(bytes, offset, length);
    }

    @Override
    public int getRemaining() {
      return 0;
    }
  }
}
