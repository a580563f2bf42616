package martite.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;

/**
 * Hadoop's SNAPPY, LZ4 and ZSTD codecs in Java: aircompressor's streams, which have Hadoop's layouts, in the form that HBase asks for. It
 * looks into compressors and decompressors, of which aircompressor's streams have none.
 */
public final class Codecs {
  private Codecs() {}

  private static class Streams extends Configured implements CompressionCodec {
    private final CompressionCodec streams;

    Streams(CompressionCodec streams) {
      super(new Configuration(false));
      this.streams = streams;
    }

    @Override
    public CompressionOutputStream createOutputStream(OutputStream out) throws IOException {
      return streams.createOutputStream(out);
    }

    @Override
    public CompressionOutputStream createOutputStream(OutputStream out, Compressor none) throws IOException {
      return streams.createOutputStream(out);
    }

    @Override
    public CompressionInputStream createInputStream(InputStream in) throws IOException {
      return streams.createInputStream(in);
    }

    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor none) throws IOException {
      return streams.createInputStream(in);
    }

    @Override
    public Class<? extends Compressor> getCompressorType() {
      return Compressor.class;
    }

    @Override
    public Compressor createCompressor() {
      return null;
    }

    @Override
    public Class<? extends Decompressor> getDecompressorType() {
      return None.class;
    }

    @Override
    public Decompressor createDecompressor() {
      return new None();
    }

    @Override
    public String getDefaultExtension() {
      return streams.getDefaultExtension();
    }
  }

  /** What the pool of decompressors hands out; nobody calls it. */
  private static final class None implements Decompressor {
    @Override
    public void setInput(byte[] bytes, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean needsInput() {
      return false;
    }

    @Override
    public void setDictionary(byte[] bytes, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean needsDictionary() {
      return false;
    }

    @Override
    public boolean finished() {
      return false;
    }

    @Override
    public int decompress(byte[] bytes, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int getRemaining() {
      return 0;
    }

    @Override
    public void reset() {}

    @Override
    public void end() {}
  }

  /** Blocks of chunks, as Hadoop's own. */
  public static final class Snappy extends Streams {
    public Snappy() {
      super(new io.airlift.compress.snappy.SnappyCodec());
    }
  }

  /** Blocks of chunks, as Hadoop's own. */
  public static final class Lz4 extends Streams {
    public Lz4() {
      super(new io.airlift.compress.lz4.Lz4Codec());
    }
  }

  /** Bare frames, as Hadoop's own. */
  public static final class Zstd extends Streams {
    public Zstd() {
      super(new io.airlift.compress.zstd.ZstdCodec());
    }
  }
}
